import { createHook } from 'node:async_hooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import * as cipher from '../../src/crypto/cipher.node.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

/*
 * Budgets that can be counted: they are the same on every machine. Times are compared by `npm run bench`.
 */

// Other files of this process have loaded the module, or will load it.
vi.hoisted(() => vi.resetModules())
vi.mock('../../src/crypto/cipher.node.ts', { spy: true })
afterAll(() => vi.resetModules())

const TTL = 600

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())
beforeEach(() => vi.clearAllMocks())

const decrypted = (): number => vi.mocked(cipher.decrypt).mock.calls.length
const encrypted = (): number => vi.mocked(cipher.encrypt).mock.calls.length

/** Returns how many promises a call creates before it returns. */
async function promisesOf(call: () => Promise<unknown>): Promise<number> {
  let count = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') count++
    },
  })
  hook.enable()
  const promise = call()
  hook.disable()
  await promise
  return count
}

async function signedIn(options: Parameters<World['another']>[0] = {}) {
  const made = world.another(options)
  await world.login(made.browser)
  vi.clearAllMocks()
  return made
}

describe('with a session in cookies', () => {
  test('a request decrypts once, however many operations read the session', async () => {
    const { browser, client } = await signedIn()
    const request = browser.request('/page')
    const response = await client.middleware(request, async () => {
      await Promise.all([client.getSession(), client.getSession(request), client.getAccessToken()])
      return new Response('ok')
    })
    expect(decrypted()).toBe(1)
    expect(encrypted()).toBe(0)
    expect(response.headers.getSetCookie()).toEqual([])
  })

  test('reading the session or its access token waits for nothing', async () => {
    const { browser, client } = await signedIn()
    const headers = new Headers()
    await client.getAccessToken(browser.request('/'), headers)
    const [first, second] = [browser.request('/'), browser.request('/')]
    expect(await promisesOf(() => client.getSession(first))).toBeLessThanOrEqual(1)
    expect(await promisesOf(() => client.getSession(first))).toBeLessThanOrEqual(1)
    expect(await promisesOf(() => client.getAccessToken(second, headers))).toBeLessThanOrEqual(1)
  })

  test('a hundred requests within a minute write one cookie at most', async () => {
    const { browser, client } = await signedIn()
    world.clock.now += 301
    let cookies = 0
    for (let sent = 0; sent < 100; sent++) {
      const response = browser.store(await client.middleware(browser.request('/page')))
      cookies += response.headers.getSetCookie().length
    }
    expect(cookies).toBe(1)
    expect(decrypted()).toBe(100)
  })

  test('fifty calls at the same time with an expired token send one refresh request', async () => {
    const { browser, client } = await signedIn()
    world.clock.now += TTL + 1
    const before = world.refreshes().length
    const calls = Array.from({ length: 50 }, () => client.getAccessToken(browser.request('/'), new Headers()))
    const tokens = await Promise.all(calls)
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1)
    expect(world.refreshes().length - before).toBe(1)
  })
})

describe('without a session', () => {
  test.each([
    ['no cookie', ''],
    ['cookies of others', 'theme=dark; _ga=GA1.1.1; consent=yes'],
  ])('a request with %s decrypts nothing, writes nothing and waits for nothing', async (_, cookie) => {
    const request = (): Request =>
      new Request('http://localhost:3000/page', { headers: cookie === '' ? {} : { cookie } })
    const response = await world.client.middleware(request())
    expect(response.headers.getSetCookie()).toEqual([])
    expect(decrypted() + encrypted()).toBe(0)
    expect(await promisesOf(() => world.client.middleware(request()))).toBeLessThanOrEqual(1)
  })
})

test('with a store, a request reads the record once, and decrypts its id once', async () => {
  const store = memoryStore({ name: 'work-per-request' })
  const get = vi.fn(store.get)
  const set = vi.spyOn(store, 'set')
  const { browser, client } = await signedIn({ sessionStore: { ...store, get } })
  get.mockClear()
  set.mockClear()
  await client.middleware(browser.request('/page'), async () => {
    await Promise.all([client.getSession(), client.getSession(), client.getAccessToken()])
    return new Response('ok')
  })
  expect(get).toHaveBeenCalledTimes(1)
  expect(set).not.toHaveBeenCalled()
  expect(decrypted()).toBe(1)
})

test('the first login requests metadata, keys and tokens, and the next one only tokens', async () => {
  const fresh = await startWorld()
  try {
    const count = (): number =>
      ['discovery', 'jwks', 'token', 'userinfo', 'par'].reduce(
        (sum, name) =>
          sum + fresh.provider.requests(name as Parameters<typeof fresh.provider.requests>[0]).length,
        0,
      )
    await fresh.login(fresh.browser)
    expect(count()).toBe(3)
    await fresh.login(fresh.newBrowser())
    expect(count()).toBe(4)
  } finally {
    await fresh.provider.stop()
  }
})
