import { afterEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { currentTime, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

let world: World | undefined
afterEach(async () => {
  await world?.provider.stop()
  world = undefined
})

async function start(options: IdpClientOptions = {}): Promise<World> {
  world = await startWorld(options)
  return world
}

const newStore = (clock = currentTime) => memoryStore({ name: crypto.randomUUID(), clock })

const loads = ({ provider }: World): number => provider.count('discovery') + provider.count('jwks')

const codesOf = async (client: IdpClient) =>
  (await client.check()).findings.map(({ code, level }) => [level, code])

describe('what it finds', () => {
  test('nothing where configuration, store and provider work', async () => {
    const { client } = await start({ sessionStore: newStore() })
    expect(await client.check()).toEqual({ ready: true, findings: [] })
  })

  test('a missing option, without a request', async () => {
    const made = await start()
    const { client } = made.another({ clientId: undefined })
    const { findings, ready } = await client.check()
    expect(ready).toBe(false)
    expect(findings).toEqual([
      {
        level: 'failed',
        code: 'INVALID_CONFIGURATION',
        message: expect.stringContaining('clientId is missing'),
        advice: expect.any(String),
        page: expect.stringMatching(
          /troubleshooting\.md#INVALID_CONFIGURATION:~:text=INVALID_CONFIGURATION$/,
        ),
      },
    ])
    expect(loads(made)).toBe(0)
  })

  test('a provider that is down, which leaves the application ready', async () => {
    const { client, provider } = await start({ sessionStore: newStore() })
    await provider.stop()
    const { findings, ready } = await client.check()
    expect(ready).toBe(true)
    expect(findings).toMatchObject([{ level: 'degraded', code: 'CONNECTION_REFUSED' }])
  })

  test('keys that cannot be loaded, although older ones are cached', async () => {
    const { browser, client, login, provider } = await start()
    await login(browser)
    provider.faults.set('jwks', { kind: 'respond', status: 500 })
    const { findings, ready } = await client.check()
    expect(ready).toBe(true)
    expect(findings).toMatchObject([{ level: 'degraded', code: 'JWKS_ERROR' }])
    expect((await login(browser)).status).toBe(302)
  })

  const failing = (error: Error): SessionDataStore => ({
    ...newStore(),
    set: () => Promise.reject(error),
  })
  const forgetful: SessionDataStore = { ...newStore(), get: () => Promise.resolve(null) }
  test.each([
    [
      'that is down',
      failing(Object.assign(new Error('redis://:p4ss@db'), { code: 'ECONNREFUSED' })),
      'SESSION_STORE_UNREACHABLE',
    ],
    [
      'that wants a password',
      failing(new Error('NOAUTH Authentication required.')),
      'SESSION_STORE_NOT_SET_UP',
    ],
    [
      'that is full',
      failing(new Error("OOM command not allowed when used memory > 'maxmemory'.")),
      'SESSION_STORE_FAILED',
    ],
    ['that forgets', forgetful, 'SESSION_STORE_LOST_RECORD'],
    ['whose clock is ahead', newStore(() => currentTime() + 3600), 'SESSION_STORE_CLOCK'],
  ])('a store %s', async (_what, sessionStore, code) => {
    const { client } = await start({ sessionStore })
    const { findings, ready } = await client.check()
    expect(ready).toBe(false)
    expect(findings).toMatchObject([{ level: 'failed', code }])
    expect(JSON.stringify(findings)).not.toContain('p4ss')
  })

  test('a record that a replica lacks once says nothing about the clock of the store', async () => {
    const store = newStore()
    const get = vi.fn(store.get).mockResolvedValueOnce(null)
    const { client } = await start({ sessionStore: { ...store, get } })
    expect(await codesOf(client)).toEqual([['failed', 'SESSION_STORE_LOST_RECORD']])
  })

  test('a store that never responds', async () => {
    const never = (): Promise<never> => new Promise(() => {})
    const { client } = await start({
      sessionStore: { get: never, set: never, delete: never },
      httpTimeout: 500,
    })
    expect(await codesOf(client)).toContainEqual(['failed', 'SESSION_STORE_UNREACHABLE'])
  })

  test('the provider of an API without sessions', async () => {
    const { provider } = await start()
    const idp = new IdpClient({
      sessions: false,
      domain: provider.issuer,
      allowInsecureRequests: true,
      logger: () => {},
    })
    expect(await idp.check()).toEqual({ ready: true, findings: [] })
  })
})

describe('what it costs', () => {
  test('concurrent calls share one check, and later ones its result for 30 seconds', async () => {
    const made = await start()
    const { client, clock } = made
    const results = await Promise.all(Array.from({ length: 20 }, () => client.check()))
    expect(new Set(results).size).toBe(1)
    clock.now += 29
    await client.check()
    expect(loads(made)).toBe(2)
    clock.now += 1
    await client.check()
    expect(loads(made)).toBe(4)
    // A clock that was set back.
    clock.now -= 30
    await client.check()
    expect(loads(made)).toBe(6)
  })

  test('a failure is kept for 30 seconds, too', async () => {
    const sessionStore = { ...newStore(), set: vi.fn(() => Promise.reject(new Error('down'))) }
    const { client, clock } = await start({ sessionStore })
    await client.check()
    await client.check()
    expect(sessionStore.set).toHaveBeenCalledTimes(1)
    clock.now += 30
    await client.check()
    expect(sessionStore.set).toHaveBeenCalledTimes(2)
  })

  test('each client has its own result', async () => {
    const made = await start()
    const { client } = made.another({ clientId: undefined })
    expect((await made.client.check()).ready).toBe(true)
    expect((await client.check()).ready).toBe(false)
  })

  test('a record of no user is written once, and deleted', async () => {
    const store = newStore()
    const [set, remove] = [vi.fn(store.set), vi.fn(store.delete)]
    const { client } = await start({ sessionStore: { ...store, set, delete: remove } })
    await client.check()
    expect(set).toHaveBeenCalledTimes(1)
    const [id = '', session] = set.mock.calls[0] ?? []
    expect(remove).toHaveBeenCalledExactlyOnceWith(id)
    expect(await store.get(id)).toBeNull()
    expect(await store.listBySubject(String(session?.user.sub))).toEqual([])
  })

  test('the record is deleted if it cannot be read', async () => {
    const store = newStore()
    const remove = vi.fn(store.delete)
    const { client } = await start({
      sessionStore: { ...store, get: () => Promise.reject(new Error('down')), delete: remove },
    })
    await client.check()
    expect(remove).toHaveBeenCalledTimes(1)
  })
})

test('findings contain no secret', async () => {
  const { client, provider } = await start({
    sessionStore: { ...newStore(), get: () => Promise.reject(new Error(SECRET)) },
  })
  await provider.stop()
  const text = JSON.stringify(await client.check())
  for (const secret of [SECRET, provider.clientSecret ?? SECRET]) expect(text).not.toContain(secret)
})

test('callers cannot change the result of others', async () => {
  const { client } = await start()
  expect(Object.isFrozen(await client.check())).toBe(true)
})
