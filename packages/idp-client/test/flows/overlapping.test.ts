import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, SessionData } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { startConnectWorld } from '../support/connect.ts'
import { keeping } from '../support/mfa.ts'
import { Process } from '../support/processes.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  for (const connection of ['github', 'google-oauth2']) world.provider.accounts.add('alice', { connection })
})

const API = 'https://api.example.test/'
const storages = ['cookies', 'a store'] as const

/** A signed-in user, whose client calls `during` between the provider's next response and its arrival, or after the next hook. */
async function signedIn(storage: (typeof storages)[number]) {
  const during: { response?: () => Promise<void>; hook?: () => void | Promise<void> } = {}
  const waiting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const { response: act } = during
    delete during.response
    await act?.()
    return response
  }
  const clock = (): number => world.clock.now
  const store = { sessionStore: memoryStore({ name: crypto.randomUUID(), clock }) }
  const beforeSessionSaved = async (session: SessionData): Promise<SessionData> => {
    const { hook } = during
    delete during.hook
    await hook?.()
    return session
  }
  const made = world.another({
    [customFetch]: waiting,
    beforeSessionSaved,
    ...(storage === 'cookies' ? {} : store),
  })
  await world.login(made.browser)
  return { ...made, during }
}

const connectionToken = (client: IdpClient, browser: Browser, connection: string) =>
  keeping(browser, (request, headers) => client.getAccessTokenForConnection(request, headers, { connection }))

test.each(storages)(
  'with %s, an account that is disconnected while a token of another one is requested leaves no token',
  async (storage) => {
    const { browser, client, during } = await signedIn(storage)
    await connectionToken(client, browser, 'github')
    // From now on the process has a token for the account API.
    const accounts = await client.listConnectedAccounts(browser.request('/'))
    const github = accounts.find(({ connection }) => connection === 'github') ?? expect.fail('is connected')
    during.response = () =>
      keeping(browser, (request, headers) => client.deleteConnectedAccount(request, headers, github))
    await connectionToken(client, browser, 'google-oauth2')
    const { connectionTokenSets } = await browser.session()
    expect(connectionTokenSets?.map(({ connection }) => connection)).toEqual(['google-oauth2'])
  },
)

/** Calls `work` after a number of turns of the queue of microtasks. */
async function afterTurns<T>(turns: number, work: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < turns; turn++) await null
  return work()
}

type Operation = (client: IdpClient, request: Request, headers: Headers) => Promise<unknown>

const operations: readonly (readonly [name: string, operation: Operation])[] = [
  ['a refresh', (client, request, headers) => client.getAccessToken(request, headers, { refresh: true })],
  [
    'a token of another API',
    (client, request, headers) => client.getAccessToken(request, headers, { audience: API }),
  ],
  [
    'a token of a connection',
    (client, request, headers) =>
      client.getAccessTokenForConnection(request, headers, { connection: 'google-oauth2' }),
  ],
  ['a revocation', (client, request, headers) => client.revokeRefreshToken(request, headers)],
  [
    'the list of accounts',
    async (client, request, headers) => {
      // The accounts have gone, and with them the tokens in the session.
      world.provider.accounts.remove('alice')
      await client.listConnectedAccounts(request, headers)
      for (const connection of ['github', 'google-oauth2'])
        world.provider.accounts.add('alice', { connection })
    },
  ],
]

/** A session with a token of a connection, and with one for the account API in this process. */
async function withTokens(storage: (typeof storages)[number]) {
  const made = await signedIn(storage)
  await connectionToken(made.client, made.browser, 'github')
  await made.client.listConnectedAccounts(made.browser.request('/'))
  // The process no longer resolves the refresh token to a refreshed session.
  world.clock.now += 400
  return { ...made, before: await made.browser.session() }
}

describe.each(storages)('with %s, an update is not lost that the same request saves', (storage) => {
  test.each(operations)('when it begins %s', async (_name, operation) => {
    for (let turns = 0; turns < 20; turns++) {
      const { before, browser, client } = await withTokens(storage)
      await keeping(browser, (request, headers) =>
        Promise.all([
          client.updateSession(request, headers, { ...before, turns }),
          afterTurns(turns, () => operation(client, request, headers)),
        ]),
      )
      expect(await browser.session(), `${turns}`).toMatchObject({ turns })
    }
  })

  test('after the hook of a refresh', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { before, browser, client, during } = await withTokens(storage)
      await keeping(browser, async (request, headers) => {
        let update: Promise<void> | undefined
        during.hook = () => {
          update = afterTurns(turns, () => client.updateSession(request, headers, { ...before, turns }))
        }
        await client.getAccessToken(request, headers, { refresh: true })
        await update
      })
      expect(await browser.session(), `${turns}`).toMatchObject({ turns })
    }
  })
})

test.each(storages)(
  'with %s, an update does not revert claims that a refresh has changed',
  async (storage) => {
    const clock = (): number => world.clock.now
    const store = { sessionStore: memoryStore({ name: crypto.randomUUID(), clock }) }
    let roles = ['admin']
    const beforeSessionSaved = (session: SessionData): SessionData => ({
      ...session,
      user: { ...session.user, roles },
    })
    const { browser, client } = world.another({ beforeSessionSaved, ...(storage === 'cookies' ? {} : store) })
    await world.login(browser)
    const before = await browser.session()
    roles = []
    await keeping(browser, async (request, headers) => {
      await client.getSession(request)
      await client.getAccessToken(request, headers, { refresh: true })
      await client.updateSession(request, headers, { ...before, user: { ...before.user, nickname: 'al' } })
    })
    expect((await browser.session()).user).toMatchObject({ nickname: 'al', roles: [] })
  },
)

test.each(storages)(
  'with %s, a refresh does not revert the update of another request whose response arrives later',
  async (storage) => {
    for (let turns = 0; turns < 30; turns++) {
      const { before, browser, client, during } = await withTokens(storage)
      const user = { ...before.user, nickname: `${turns}` }
      const responses = { refresh: new Headers(), update: new Headers() }
      let update: Promise<void> | undefined
      during.hook = () => {
        update = client.updateSession(browser.request('/'), responses.update, { ...before, user })
        return afterTurns(turns, async () => {})
      }
      await client.getAccessToken(browser.request('/'), responses.refresh, { refresh: true })
      await update
      for (const headers of [responses.refresh, responses.update])
        browser.store(new Response(null, { headers }))
      expect((await browser.session()).user, `${turns}`).toMatchObject({ nickname: `${turns}` })
    }
  },
)

test('with cookies, a process that has refreshed a session in the same second keeps the update of another one', async () => {
  const { browser, client } = world.another()
  await world.login(browser)
  const [one, other] = [new Process(), new Process()]
  const refresh = () =>
    keeping(browser, (request, headers) => client.getAccessToken(request, headers, { refresh: true }))
  await one.run(refresh)
  const session = await browser.session()
  await other.run(() =>
    keeping(browser, (request, headers) =>
      client.updateSession(request, headers, { ...session, theme: 'dark' }),
    ),
  )
  await one.run(refresh)
  expect(await browser.session()).toMatchObject({ theme: 'dark' })
})

test('with cookies, an update is kept that another process saves after a refresh of a request that can write none', async () => {
  const { browser, client } = world.another()
  await world.login(browser)
  const session = await browser.session()
  const [one, other] = [new Process(), new Process()]
  const update = (changes: object) =>
    keeping(browser, (request, headers) => client.updateSession(request, headers, { ...session, ...changes }))
  await one.run(() => client.getAccessToken(browser.request('/'), undefined, { refresh: true }))
  world.clock.now += 1
  await other.run(() => update({ theme: 'dark' }))
  await one.run(async () => {
    expect(await browser.session()).toMatchObject({ theme: 'dark' })
    await update({ theme: 'dark', language: 'fr' })
    await keeping(browser, (request, headers) => client.getAccessToken(request, headers, { refresh: true }))
    expect(await browser.session()).toMatchObject({ theme: 'dark', language: 'fr' })
  })
})
