import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GuardRequirements, IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600
const BANK = 'https://bank.example.test/'

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL, refreshMovesAuthTime: true })
})
afterEach(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

type Made = ReturnType<World['another']>

/** A browser that has just signed in, in a provider session of its own. */
async function signedIn(options: IdpClientOptions = {}, query = '?max_age=300') {
  const made = world.another(options)
  const jar = world.provider.createJar()
  await world.login(made.browser, query, { user: 'alice', jar })
  return { ...made, jar }
}

/** The status of the access-token route. */
async function refresh({ browser }: { browser: Browser }): Promise<number> {
  return (await browser.send('/auth/access-token')).status
}

/** Whether a page that demands a recent authentication is shown. */
async function isShown({ browser, client }: Made, requirements: GuardRequirements = { maxAge: 300 }) {
  const page = client.withPageAuthRequired(() => new Response('in'), requirements)
  return (await page(browser.request('/vault'))).status === 200
}

/** From now on ID tokens of the provider say so; returns the end of it. */
function tell(claims: Record<string, unknown>, options?: { times: number }): () => void {
  return world.provider.tamperIdToken((all) => {
    Object.assign(all, claims)
  }, options)
}

const ignored = (): unknown[] =>
  world.events.flatMap((event) => (event.code === 'REFRESHED_ID_TOKEN_IGNORED' ? [event.reason] : []))

describe.each<[string, () => IdpClientOptions]>([
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: memoryStore() })],
])('sessions %s', (_where, options) => {
  test('[B1] after a login elsewhere in the same provider session they are refreshed, and prove no more', async () => {
    const made = await signedIn(options())
    const before = await made.browser.session()
    pass(TTL + 1)
    await world.login(world.newBrowser(), '?max_age=0', { user: 'alice', jar: made.jar })
    world.provider.clearRequests()
    expect(await refresh(made)).toBe(200)
    const after = await made.browser.session()
    const authTime = (idToken = ''): number =>
      JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()).auth_time
    expect(authTime(after.tokenSet.idToken)).toBeGreaterThan(authTime(before.tokenSet.idToken) + TTL)
    expect(after.tokenSet.refreshToken).not.toBe(before.tokenSet.refreshToken)
    expect(after.internal).toEqual(before.internal)
    expect(await isShown(made)).toBe(false)
    expect(ignored()).toEqual([])

    pass(TTL + 1)
    expect(await refresh(made)).toBe(200)
    expect(await isShown(made)).toBe(false)
    await world.login(made.browser, '?max_age=300', { user: 'alice', jar: made.jar })
    expect(await isShown(made)).toBe(true)
  })

  test.each<[string, string, () => void]>([
    ['an expired one', 'time', () => tell({ exp: 1 })],
    ['one of an earlier login', 'auth_time', () => tell({ auth_time: 1 })],
    ['another nonce', 'nonce', () => tell({ nonce: 'x' })],
    [
      'a key that is not published yet',
      'keys',
      () =>
        world.provider.tamperIdToken((_claims, header) => {
          header.kid = 'next'
          return { keepSignature: true }
        }),
    ],
  ])('[B2] %s costs no token: ID token, user and sid stay', async (_what, reason, tamper) => {
    const made = await signedIn(options())
    const before = await made.browser.session()
    pass(TTL + 1)
    tell({ name: 'Somebody', sid: 'another' })
    tamper()
    expect(await refresh(made)).toBe(200)
    world.provider.faults.clear()
    const after = await made.browser.session()
    expect(after.tokenSet.idToken).toBe(before.tokenSet.idToken)
    expect(after.user).toEqual(before.user)
    expect(after.internal).toEqual(before.internal)
    expect(after.tokenSet.accessToken).not.toBe(before.tokenSet.accessToken)
    expect(ignored()).toEqual([reason])
    pass(TTL + 1)
    expect(await refresh(made)).toBe(200)
    expect((await made.browser.session()).tokenSet.idToken).not.toBe(before.tokenSet.idToken)
  })

  test('[B2] beforeSessionSaved gets the claims of the stored ID token, and no new one', async () => {
    const seen: unknown[] = []
    const made = await signedIn({
      ...options(),
      beforeSessionSaved: (session, idToken) => {
        seen.push([session.user['name'], idToken])
        return session
      },
    })
    seen.length = 0
    pass(TTL + 1)
    tell({ exp: 1, name: 'Somebody' })
    expect(await refresh(made)).toBe(200)
    expect(seen).toEqual([['Alice Anderson', undefined]])
  })

  test('[B2] a forged one rejects the whole response, even if keys cannot be loaded and clocks differ', async () => {
    const made = await signedIn(options())
    const before = await made.browser.session()
    pass(TTL + 1)
    world.provider.faults.set('jwks', { kind: 'respond', status: 500 })
    tell({ sub: 'dev|mallory', exp: 1 })
    expect(await refresh(made)).toBe(502)
    expect((await made.browser.session()).tokenSet).toEqual(before.tokenSet)
  })

  test('[B1] a hook that removes the ID token does not remove what was proven', async () => {
    const made = await signedIn({
      ...options(),
      beforeSessionSaved: ({ tokenSet: { idToken: _removed, ...tokenSet }, ...session }) => ({
        ...session,
        tokenSet,
      }),
    })
    expect((await made.browser.session()).tokenSet).not.toHaveProperty('idToken')
    expect(await isShown(made)).toBe(true)
    pass(TTL + 1)
    tell({ auth_time: world.clock.now }, { times: 1 })
    expect(await refresh(made)).toBe(200)
    expect(await isShown(made)).toBe(false)
    pass(TTL + 1)
    tell({ org_id: 'org_acme' })
    expect(await refresh(made)).toBe(502)
  })

  test('[B1] a hook cannot replace the ID token', async () => {
    const made = await signedIn({
      ...options(),
      beforeSessionSaved: (session) => ({
        ...session,
        tokenSet: { ...session.tokenSet, idToken: 'e30.e30.AAAA' },
      }),
    })
    expect((await made.browser.session()).tokenSet.idToken).not.toBe('e30.e30.AAAA')
    expect(await isShown(made)).toBe(true)
  })

  test('[B1] updateSession cannot change the ID token', async () => {
    const made = await signedIn(options())
    pass(400)
    const session = await made.browser.session()
    const claims = Buffer.from(JSON.stringify({ sub: 'dev|alice', auth_time: world.clock.now })).toString(
      'base64url',
    )
    const headers = new Headers()
    await made.client.updateSession(made.browser.request('/'), headers, {
      ...session,
      tokenSet: { ...session.tokenSet, idToken: `e30.${claims}.AAAA` },
    })
    made.browser.store(new Response(null, { headers }))
    expect((await made.browser.session()).tokenSet.idToken).toBe(session.tokenSet.idToken)
    expect(await isShown(made)).toBe(false)
  })
})

describe('acr and amr', () => {
  test('[B1] of a refresh prove no more than the login did', async () => {
    const undo = tell({ acr: 'urn:silver', amr: ['pwd'] })
    const made = await signedIn()
    undo()
    pass(TTL + 1)
    tell({ acr: 'urn:gold', amr: ['pwd', 'otp'] })
    expect(await refresh(made)).toBe(200)
    expect(await isShown(made, { acr: 'urn:gold' })).toBe(false)
    expect(await isShown(made, { amr: 'otp' })).toBe(false)
    // The kept ID token no longer names what the login proved.
    expect(await isShown(made, { acr: 'urn:silver' })).toBe(false)
    expect(await isShown(made, { amr: 'pwd' })).toBe(true)
  })

  test('[B1] that a refreshed ID token lacks are those of the login', async () => {
    const undo = tell({ acr: 'urn:gold', amr: ['pwd', 'otp'] })
    const made = await signedIn()
    undo()
    pass(TTL + 1)
    tell({ acr: undefined, amr: undefined })
    expect(await refresh(made)).toBe(200)
    expect(await isShown(made, { acr: 'urn:gold' })).toBe(true)
    expect(await isShown(made, { amr: ['pwd', 'otp'] })).toBe(true)
  })
})

describe('a popup of the same user', () => {
  /** Steps up in a popup, with another authentication at the provider. */
  async function stepUp(
    made: Awaited<ReturnType<typeof signedIn>>,
    query: Record<string, string>,
  ): Promise<string> {
    const { browser, jar } = made
    const url = await world.begin(browser, `?${new URLSearchParams({ challengeMode: 'popup', ...query })}`)
    const response = await browser.send(await world.authorize(url, { user: 'alice', jar, otp: true }))
    return response.text()
  }

  test.each([
    ['whose token replaces the main one', {}],
    ['whose token becomes an entry', { audience: BANK, scope: 'transfer:money' }],
  ])('[B1] %s is a step-up', async (_what, query) => {
    const made = await signedIn()
    pass(400)
    expect(await isShown(made)).toBe(false)
    const gold = { acr: 'urn:gold', prompt: 'login', max_age: '0' }
    const undo = tell({ acr: 'urn:gold' })
    await stepUp(made, { ...gold, ...query })
    undo()
    expect(await isShown(made)).toBe(true)
    expect(await isShown(made, { acr: 'urn:gold' })).toBe(true)
  })

  test('[B1] counts together with the ID token of a later refresh', async () => {
    const made = await signedIn()
    const undo = tell({ acr: 'urn:gold' })
    await stepUp(made, { prompt: 'login', max_age: '0', audience: BANK, scope: 'transfer:money' })
    undo()
    expect(await isShown(made, { acr: 'urn:gold' })).toBe(true)
    pass(TTL + 1)
    tell({ acr: 'urn:bronze' })
    expect(await refresh(made)).toBe(200)
    expect(await isShown(made, { acr: 'urn:gold' })).toBe(false)
    expect(ignored()).toEqual([])
  })

  test('[B1] of another organization is rejected', async () => {
    const made = await signedIn({}, '?organization=acme')
    const before = await made.browser.session()
    tell({ org_id: 'org_globex', org_name: 'globex' })
    await stepUp(made, { prompt: 'login', max_age: '0' })
    expect(await made.browser.session()).toEqual(before)
  })
})
