import { NextRequest } from 'next/server.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { IdpClient as NextIdpClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { customClock, customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { holding } from '../support/holding.ts'
import { SHORT } from '../support/timeouts.ts'

const TTL = 600

let world: World
beforeEach(async () => {
  world = await startWorld({ processLasts: false }, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

/** How a host asks for a token where the response cannot be reached. */
type ReadOnly = (browser: Browser, options?: { refresh?: boolean }) => Promise<{ token: string }>

const hosts: readonly (readonly [string, () => ReadOnly])[] = [
  ['Web', () => (browser, options) => world.client.getAccessToken(options ?? {}, browser.request('/'))],
  [
    'Next.js',
    () => {
      const { clientId, clientSecret, issuer: domain } = world.provider
      const client = new NextIdpClient({
        ...{ domain, clientId, clientSecret, secret: SECRET, appBaseUrl: APP, processLasts: false },
        allowInsecureRequests: true,
        [customClock]: () => world.clock.now,
      })
      return (browser, options) => client.getAccessToken(options ?? {}, new NextRequest(browser.request('/')))
    },
  ],
]

describe.each(hosts)('[D3] processLasts: false where cookies cannot be written: %s', (_host, make) => {
  test('returns a valid token, and redeems nothing for an expired one', async () => {
    const ask = make()
    await world.login(world.browser)
    const { token } = await ask(world.browser)
    await expect(ask(world.browser, { refresh: true })).rejects.toMatchObject({
      code: 'REFRESH_NOT_PERSISTABLE',
    })
    world.clock.now += TTL + 1
    await expect(ask(world.browser)).rejects.toMatchObject({ code: 'REFRESH_NOT_PERSISTABLE' })
    expect(world.refreshes()).toEqual([])
    // The session has lost nothing: where a cookie can be written it refreshes.
    const response = await world.browser.send('/auth/access-token')
    expect(response.status).toBe(200)
    const fresh = ((await response.json()) as { token: string }).token
    expect(fresh).not.toBe(token)
    expect((await ask(world.browser)).token).toBe(fresh)
  })
})

test('[D3] with a store every refresh is written', async () => {
  const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
  const { browser, client } = world.another({ sessionStore })
  await world.login(browser)
  world.clock.now += TTL + 1
  const { token } = await client.getAccessToken({}, browser.request('/'))
  expect((await client.getAccessToken({}, browser.request('/'))).token).toBe(token)
  expect(world.refreshes()).toHaveLength(1)
})

test('[D3] a process that lasts refreshes where cookies cannot be written', async () => {
  const { browser, client } = world.another({ processLasts: true })
  await world.login(browser)
  world.clock.now += TTL + 1
  const { token } = await client.getAccessToken({}, browser.request('/'))
  expect((await client.getAccessToken({}, browser.request('/'))).token).toBe(token)
  expect(world.refreshes()).toHaveLength(1)
})

describe.each<[string, () => IdpClientOptions]>([
  ['in cookies', () => ({})],
  [
    'in a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
])('[D3] a late response to a refresh, sessions %s', (_where, options) => {
  test('a late response is not awaited: the next call redeems the refresh token again', async () => {
    const held = holding()
    const common = { ...options(), [customFetch]: held.fetch }
    const patient = world.another(common)
    await world.login(patient.browser)
    world.clock.now += TTL + 1
    const { browser } = world.another({ ...common, httpTimeout: SHORT })
    for (const [name, cookie] of patient.browser.cookies) browser.cookies.set(name, cookie)
    expect((await browser.send('/auth/access-token')).status).toBe(504)
    // The provider has rotated the token, and refuses it now.
    expect((await browser.send('/auth/access-token')).status).toBe(401)
    expect(world.refreshes()).toHaveLength(2)
    held.release()
  })
})

describe('a platform that ends the I/O of a request with its response is asked to wait', () => {
  const platform = Symbol.for('@next/request-context')
  const awaited: Promise<unknown>[] = []
  beforeEach(() => {
    awaited.length = 0
    const waitUntil = (work: Promise<unknown>): void => void awaited.push(work)
    Reflect.set(globalThis, platform, { get: () => ({ waitUntil }) })
  })
  afterEach(() => void Reflect.deleteProperty(globalThis, platform))

  test('for a refresh', async () => {
    const held = holding()
    const { browser, client } = world.another({ [customFetch]: held.fetch })
    await world.login(browser)
    awaited.length = 0
    const refreshing = client.getAccessToken(browser.request('/'), new Headers(), { refresh: true })
    await held.responded
    expect(awaited).toHaveLength(1)
    held.release()
    await Promise.all([refreshing, ...awaited])
  })

  test('for the revocation of a logout', async () => {
    await world.login(world.browser)
    awaited.length = 0
    await world.browser.send('/auth/logout')
    expect(awaited).toHaveLength(1)
    await Promise.all(awaited)
    expect(world.provider.count('revocation')).toBe(1)
  })
})
