import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { startConnectWorld } from '../support/connect.ts'
import { Process } from '../support/processes.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.accounts.remove('alice')
  world.provider.clearRequests()
  world.events.length = 0
})

/** Runs an operation with a response that its cookies go to, as a route handler of an application does. */
async function within<T>(browser: Browser, operation: (request: Request, target: Headers) => Promise<T>) {
  const headers = new Headers()
  try {
    return await operation(browser.request('/'), headers)
  } finally {
    browser.store(new Response(null, { headers }))
  }
}

describe('[C2] the access token of the account API', () => {
  const SCOPE = 'create:me:connected_accounts read:me:connected_accounts delete:me:connected_accounts'

  test.each(['cookies', 'a store'])(
    'is the same for connecting, listing and disconnecting, in this process only: sessions in %s',
    async (place) => {
      const { browser, client } = world.another(place === 'a store' ? { sessionStore: memoryStore() } : {})
      const list = () => within(browser, (...args) => client.listConnectedAccounts(...args))
      await world.login(browser)
      world.provider.clearRequests()
      expect((await world.connect(browser)).status).toBe(302)
      const [account] = await list()
      await within(browser, (...args) =>
        client.deleteConnectedAccount(...args, account ?? expect.fail('an account is connected')),
      )
      expect(await list()).toEqual([])
      expect(world.refreshes().map(({ body }) => body['scope'])).toEqual([SCOPE])
      expect((await client.getSession(browser.request('/')))?.accessTokens).toBeUndefined()

      // It is fetched again when it expires, by another process, and for another session of the same user.
      await new Process().run(list)
      expect(world.refreshes()).toHaveLength(2)
      world.clock.now += 3601
      await list()
      expect(world.refreshes()).toHaveLength(3)
      await browser.send('/auth/logout')
      await world.login(browser)
      await list()
      expect(world.refreshes()).toHaveLength(4)
    },
  )

  test('20 calls at once request it once', async () => {
    const browser = await world.signedIn()
    world.provider.clearRequests()
    await Promise.all(
      Array.from({ length: 20 }, () =>
        world.client.listConnectedAccounts(browser.request('/'), new Headers()),
      ),
    )
    expect(world.refreshes()).toHaveLength(1)
  })

  test.each(['cookies', 'a store'])(
    'is replaced at the next call after the API has refused it: sessions in %s',
    async (place) => {
      const refused = new Set<string>()
      let latest = ''
      const { browser, client } = world.another({
        ...(place === 'a store' ? { sessionStore: memoryStore() } : {}),
        [customFetch]: async (input, init) => {
          if (!String(input).includes('/connected-accounts')) return fetch(input, init)
          latest = new Headers(init?.headers).get('authorization') ?? ''
          return refused.has(latest) ? new Response(null, { status: 401 }) : fetch(input, init)
        },
      })
      await world.login(browser)
      world.provider.accounts.add('alice', { connection: 'github' })
      const list = () => within(browser, (...args) => client.listConnectedAccounts(...args))
      const [account = expect.fail('an account is connected')] = await list()
      const begun = await world.beginConnect(browser)
      const calls: readonly (() => Promise<unknown>)[] = [
        list,
        () => within(browser, (...args) => client.deleteConnectedAccount(...args, account)),
        () => browser.send('/auth/connect?connection=github'),
        async () => browser.send(await world.decide(begun)),
      ]
      for (const call of calls) {
        world.provider.clearRequests()
        refused.add(latest)
        await call().catch(() => {})
        expect(world.refreshes()).toHaveLength(0)
        await list()
        expect(world.refreshes()).toHaveLength(1)
      }
      expect(refused.size).toBe(calls.length)
    },
  )

  test('is not used for another user that the application puts into the session', async () => {
    const { browser, client } = world.another()
    await world.login(browser)
    world.provider.accounts.add('alice', { connection: 'github' })
    const list = () => within(browser, (...args) => client.listConnectedAccounts(...args))
    expect(await list()).toHaveLength(1)
    const session = (await client.getSession(browser.request('/'))) ?? expect.fail('nobody is signed in')
    const tokenSet = { accessToken: 'of-bob', expiresAt: world.clock.now + 3600 }
    const other = { ...session, user: { sub: 'dev|bob' }, tokenSet }
    await within(browser, (request, target) => client.updateSession(request, target, other))
    await expect(list()).rejects.toMatchObject({ code: 'FAILED_TO_LIST' })
  })
})

test('[C2] deleteConnectedAccount succeeds if only the session cannot be written afterwards', async () => {
  let fails = false
  const store = memoryStore()
  const sessionStore: typeof store = {
    ...store,
    update: (...given) => (fails ? Promise.reject(new Error('the store is down')) : store.update(...given)),
  }
  const { browser, client } = world.another({ sessionStore })
  await world.login(browser)
  world.provider.accounts.add('alice', { connection: 'github' })
  await within(browser, (...args) => client.getAccessTokenForConnection(...args, { connection: 'github' }))
  const [account] = await within(browser, (...args) => client.listConnectedAccounts(...args))
  fails = true
  await within(browser, (...args) =>
    client.deleteConnectedAccount(...args, account ?? expect.fail('there is an account')),
  )
  expect(world.provider.accounts.list('alice')).toEqual([])
  expect(world.events).toContainEqual(
    expect.objectContaining({ code: 'SESSION_STORE_FAILED', operation: 'update' }),
  )
})

test.each([
  ['cookies', () => ({})],
  ['a store', () => ({ sessionStore: memoryStore() })],
])('[C9] a list removes the tokens of accounts that no longer exist: sessions in %s', async (_, options) => {
  const { browser, client } = world.another(options())
  await world.login(browser)
  for (const connection of ['github', 'google-oauth2']) {
    world.provider.accounts.add('alice', { connection })
    await within(browser, (...args) => client.getAccessTokenForConnection(...args, { connection }))
  }
  const kept = async () =>
    (await client.getSession(browser.request('/')))?.connectionTokenSets?.map(({ connection }) => connection)
  const list = () => within(browser, (...args) => client.listConnectedAccounts(...args))
  expect(await list()).toHaveLength(2)
  expect(await kept()).toEqual(['github', 'google-oauth2'])
  // Disconnected at the provider, of which nobody tells this application.
  const [github] = world.provider.accounts.list('alice')
  world.provider.accounts.remove('alice', github?.id)
  // Where nothing can be written, the list is all that there is.
  expect(await client.listConnectedAccounts(browser.request('/'))).toHaveLength(1)
  expect(await list()).toHaveLength(1)
  expect(await kept()).toEqual(['google-oauth2'])
})
