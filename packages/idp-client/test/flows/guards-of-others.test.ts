import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GuardRequirements, IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { APP, Browser, startWorld } from '../support/app.ts'

const API = 'https://api.example.test/'
const DEFAULT = 'openid profile email offline_access'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

/** Two users of one application with guarded pages. */
function twoUsers(options: IdpClientOptions = {}) {
  const { browser: mallory, client } = world.another(options)
  const open = async (user: Browser, requirements: GuardRequirements): Promise<Response> =>
    client.withPageAuthRequired(() => new Response('in'), requirements)(user.request('/vault'))
  /** The query of the login that the page redirects to. */
  const redirected = async (user: Browser, requirements: GuardRequirements): Promise<string> =>
    new URL((await open(user, requirements)).headers.get('location') ?? '', APP).search
  const sent = async (user: Browser, query: string): Promise<Record<string, string>> =>
    Object.fromEntries(new URL(await world.begin(user, query)).searchParams)
  return { mallory, alice: new Browser(client), client, open, redirected, sent }
}

describe.each([
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })],
])('[M3] the redirect of a guard, followed by another user, with sessions %s', (_where, storage) => {
  test('requests no scope that a login link has added for the first user', async () => {
    const options = { authorizationParameters: { audience: API }, ...storage() }
    const { alice, client, mallory, redirected, sent } = twoUsers(options)
    await world.login(mallory, '?scope=read:things')
    const query = await redirected(mallory, { acr: 'urn:gold' })
    const [required, added] = [{ acr_values: 'urn:gold', scope: DEFAULT }, `${DEFAULT} read:things`]
    expect(await sent(alice, query)).toMatchObject(required)
    await world.login(alice)
    expect(await sent(alice, query)).toMatchObject(required)

    // Her own session keeps it, also after a refresh, for as long as it lives.
    const headers = new Headers()
    await client.getAccessToken(mallory.request('/'), headers, { refresh: true })
    mallory.store(new Response(null, { headers }))
    expect(await sent(mallory, query)).toMatchObject({ ...required, scope: added })
    await mallory.send('/auth/logout')
    expect(await sent(mallory, query)).toMatchObject(required)
  })

  test('requests neither scope nor organization that the application has requested for the first user', async () => {
    const { alice, client, mallory, redirected, sent } = twoUsers({
      authorizationParameters: { organization: 'org_acme' },
      ...storage(),
    })
    const parameters = { scope: `${DEFAULT} admin:all`, organization: 'org_globex', acr_values: 'urn:silver' }
    const start = await client.startInteractiveLogin(
      { authorizationParameters: parameters },
      mallory.request('/start'),
    )
    mallory.store(start)
    await mallory.send(await world.authorize(start.headers.get('location') ?? '', { user: 'bob' }))
    const query = await redirected(mallory, { acr: 'urn:gold' })
    const required = { acr_values: 'urn:gold', scope: DEFAULT, organization: 'org_acme' }
    expect(await sent(alice, query)).toMatchObject(required)
    await world.login(alice)
    expect(await sent(alice, query)).toMatchObject(required)
    expect(await sent(mallory, query)).toMatchObject({ ...required, ...parameters, acr_values: 'urn:gold' })
  })

  test('does not count the logins that the first user has tried', async () => {
    const { alice, mallory, open, redirected } = twoUsers(storage())
    await world.login(mallory, await redirected(mallory, { acr: 'urn:silver' }))
    await world.login(alice, await redirected(mallory, { acr: 'urn:gold' }))
    expect(await (await open(alice, { acr: 'urn:gold' })).text()).toBe('in')
    await world.login(alice, await redirected(alice, { acr: 'urn:silver' }))
    expect(await (await open(alice, { acr: 'urn:silver' })).text()).toBe('in')
  })
})
