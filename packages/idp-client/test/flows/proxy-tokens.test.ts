import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { ProxiedWorld } from '../support/proxied.ts'
import { fromPage, startProxiedWorld } from '../support/proxied.ts'
import { gate } from '../support/redemptions.ts'

const TTL = 600
const MIB = 1_048_576

let world: ProxiedWorld
afterEach(() => world.stop())

const targets = (): string[] => world.upstream.requests.map(({ target }) => target)
const tokens = (): (string | undefined)[] => world.upstream.requests.map(({ token }) => token)

/** Sends a request of a page. A browser stores cookies when the head arrives. */
async function send(path: string, init: Parameters<typeof fromPage>[2] = {}, browser = world.browser) {
  return browser.store(await world.client.middleware(fromPage(browser, path, init)))
}

describe('access tokens of a proxy', () => {
  beforeEach(async () => {
    world = await startProxiedWorld({ provider: { accessTokenTtl: TTL } })
    await world.login(world.browser)
  })

  test('50 parallel requests with an expired token are one refresh', async () => {
    world.clock.now += TTL
    const requests = Array.from({ length: 50 }, (_, index) =>
      world.client.middleware(fromPage(world.browser, `/api/orders/${index}`)),
    )
    const responses = await Promise.all(requests)
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(await world.refreshes()).toHaveLength(1)
    expect(new Set(tokens()).size).toBe(1)
    expect(responses.some(({ headers }) => headers.getSetCookie().length > 0)).toBe(true)
  })

  test('a token that the API refuses is refreshed, and the request sent again with its body', async () => {
    await send('/api/orders')
    world.upstream.respond({ kind: 'invalidToken' }, { times: 1 })
    const response = await send('/api/orders/1', { method: 'POST', body: 'the body' })
    expect(response.status).toBe(200)
    const [, refused, repeated] = world.upstream.requests
    expect(repeated).toMatchObject({ method: 'POST', target: '/v1/1', sha256: refused?.sha256, bodyBytes: 8 })
    expect(repeated?.token).not.toBe(refused?.token)
    expect(await world.refreshes()).toHaveLength(1)
    expect((await world.browser.session()).tokenSet.accessToken).toBe(repeated?.token)
  })

  test('50 parallel requests whose token the API refuses are one refresh', async () => {
    const { accessToken } = (await world.browser.session()).tokenSet
    world.upstream.respond({ kind: 'invalidToken' }, { tokens: [accessToken] })
    const requests = Array.from({ length: 50 }, () =>
      world.client.middleware(fromPage(world.browser, '/api/orders')),
    )
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(await world.refreshes()).toHaveLength(1)
    expect(new Set(tokens()).size).toBe(2)
  })

  test('a later request with the cookie of before gets the token of the refresh', async () => {
    const old = new Map(world.browser.cookies)
    const { accessToken } = (await world.browser.session()).tokenSet
    world.upstream.respond({ kind: 'invalidToken' }, { tokens: [accessToken] })
    await send('/api/orders')
    for (const [name, cookie] of old) world.browser.cookies.set(name, cookie)
    expect((await send('/api/orders')).status).toBe(200)
    expect(await world.refreshes()).toHaveLength(1)
  })

  test('a new token that is refused, too, is not refreshed again for 60 s, and the refusal passes on', async () => {
    world.upstream.respond({ kind: 'invalidToken' })
    for (let request = 0; request < 3; request++) {
      const response = await send('/api/orders')
      expect(response.status).toBe(401)
      expect(response.headers.get('idp-client-error')).toBeNull()
      expect(response.headers.get('www-authenticate')).toBeNull()
    }
    expect(await world.refreshes()).toHaveLength(1)
    expect(world.upstream.requests).toHaveLength(4)
    world.clock.now += 61
    await send('/api/orders')
    expect(await world.refreshes()).toHaveLength(2)
  })

  test('a 401 without a challenge passes on', async () => {
    world.upstream.respond({ kind: 'unauthorized' })
    expect((await send('/api/orders')).status).toBe(401)
    expect(await world.refreshes()).toHaveLength(0)
  })

  test('50 parallel requests whose refresh fails try it once', async () => {
    const { accessToken } = (await world.browser.session()).tokenSet
    world.upstream.respond({ kind: 'invalidToken' }, { tokens: [accessToken] })
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    const requests = Array.from({ length: 50 }, () =>
      world.client.middleware(fromPage(world.browser, '/api/orders')),
    )
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(50).fill(401))
    expect((await world.refreshes()).length).toBeLessThan(5)
  })

  test('a refusal passes on if the refresh fails', async () => {
    world.upstream.respond({ kind: 'invalidToken' })
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    const response = await send('/api/orders')
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([401, null])
    expect(world.upstream.requests).toHaveLength(1)
  })

  test.each([
    ['of exactly 1 MiB is sent again', MIB, 200, 2],
    ['above 1 MiB is not sent again', MIB + 1, 401, 1],
  ])('a body %s', async (_name, length, status, count) => {
    world.upstream.respond({ kind: 'invalidToken' }, { times: 1 })
    const response = await send('/api/orders', { method: 'PUT', body: new Uint8Array(length) })
    expect(response.status).toBe(status)
    expect(world.upstream.requests.map(({ bodyBytes }) => bodyBytes)).toEqual(Array(count).fill(length))
    expect(await world.refreshes()).toHaveLength(count - 1)
  })

  test('a body is sent again that was refused before it had arrived', async () => {
    world.upstream.respond({ kind: 'invalidToken' }, { times: 1, early: true })
    let isRefused = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (!isRefused) {
          controller.enqueue(new TextEncoder().encode('first '))
          await world.upstream.until(() => world.upstream.requests[0]?.responded === true)
          isRefused = true
          return
        }
        controller.enqueue(new TextEncoder().encode('second'))
        controller.close()
      },
    })
    const response = await send('/api/orders', { method: 'POST', body, duplex: 'half' })
    expect(response.status).toBe(200)
    expect(world.upstream.requests[1]).toMatchObject({ bodyBytes: 12 })
  })

  test('tokens of one user never reach another', async () => {
    const other = world.newBrowser()
    await world.login(other, '', { user: 'bob' })
    const own = await Promise.all(
      [world.browser, other].map(async (each) => (await each.session()).tokenSet.accessToken),
    )
    world.upstream.respond({ kind: 'invalidToken' }, { tokens: own })
    await Promise.all([send('/api/orders/a'), send('/api/orders/b', {}, other)])
    const [alice, bob] = await Promise.all(
      [world.browser, other].map(async (each) => (await each.session()).tokenSet.accessToken),
    )
    const sent = (target: string) =>
      world.upstream.requests.filter((each) => each.target === target).map(({ token }) => token)
    expect(sent('/v1/a')).toEqual([own[0], alice])
    expect(sent('/v1/b')).toEqual([own[1], bob])
    expect(new Set([...own, alice, bob]).size).toBe(4)
  })

  test('without a valid token the session is to blame', async () => {
    world.provider.faults.set('token', { kind: 'respond', status: 400, body: '{"error":"invalid_grant"}' })
    world.clock.now += TTL
    const response = await send('/api/orders')
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([401, '1'])
    expect(await response.json()).toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN' })
    expect(targets()).toEqual([])
  })
})

describe('a refresh that learns that the session has ended at the provider', () => {
  test.each(['an expired token', 'a token that the API refuses'])('is a 401: %s', async (cause) => {
    world = await startProxiedWorld({
      client: { session: { expiryClaim: 'session_expiry' } },
      provider: { accessTokenTtl: TTL },
    })
    await world.login(world.browser)
    world.provider.settings.sessionExpiry = -1
    if (cause === 'an expired token') world.clock.now += TTL
    else world.upstream.respond({ kind: 'invalidToken' })
    const response = await send('/api/orders')
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([401, '1'])
    expect(await response.json()).toMatchObject({ code: 'SESSION_EXPIRED' })
  })
})

describe('use of the session', () => {
  const rolling = { rolling: true, absoluteDuration: 86_400, inactivityDuration: 3600 }

  test.each([
    ['a proxied request counts', {}, true],
    ['a request with idp-client: 1 counts', { 'idp-client': '1' }, true],
    ['a request in the background does not', { 'idp-client': 'background' }, false],
  ])('%s', async (_name, headers, isUse) => {
    world = await startProxiedWorld({ client: { session: rolling }, provider: { accessTokenTtl: 86_400 } })
    await world.login(world.browser)
    world.clock.now += 1800
    const response = await send('/api/orders', { headers })
    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie().length > 0).toBe(isUse)
    world.clock.now += 1801
    expect((await world.client.getSession(world.browser.request('/'))) !== null).toBe(isUse)
  })

  test.each(['cookies', 'a store'])(
    'polling that refreshes tokens in the background does not: %s',
    async (place) => {
      const client = { session: rolling, ...(place === 'a store' ? { sessionStore: memoryStore() } : {}) }
      world = await startProxiedWorld({ client, provider: { accessTokenTtl: TTL } })
      await world.login(world.browser)
      const statuses: number[] = []
      for (let time = TTL; time <= 3600; time += TTL) {
        world.clock.now += TTL
        if (time === 1200) world.upstream.respond({ kind: 'invalidToken' }, { times: 1 })
        statuses.push((await send('/api/orders', { headers: { 'idp-client': 'background' } })).status)
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 401])
      expect(await world.refreshes()).not.toEqual([])
      expect(await world.client.getSession(world.browser.request('/'))).toBeNull()
    },
  )

  test('a request counts that gets its token from a refresh in the background', async () => {
    world = await startProxiedWorld({ client: { session: rolling }, provider: { accessTokenTtl: TTL } })
    await world.login(world.browser)
    world.clock.now += 1800
    const [, response] = await Promise.all(
      ['background', '1'].map((value) =>
        world.client.middleware(fromPage(world.browser, '/api/orders', { headers: { 'idp-client': value } })),
      ),
    )
    if (response) world.browser.store(response)
    expect(await world.refreshes()).toHaveLength(1)
    world.clock.now += 3599
    expect(await world.client.getSession(world.browser.request('/'))).not.toBeNull()
  })

  test.each(['the provider', 'the API'])(
    'use during a request in the background is kept: while it waits for %s',
    async (place) => {
      const [sent, used] = [gate(), gate()]
      const waiting: typeof fetch = async (...given) => {
        sent.open()
        await used.opened
        return fetch(...given)
      }
      let isLoggedIn = false
      const client = {
        session: rolling,
        [customFetch]: ((...given) =>
          (place === 'the provider' && isLoggedIn ? waiting : fetch)(...given)) satisfies typeof fetch,
      }
      const proxy = place === 'the API' ? { fetch: waiting } : {}
      world = await startProxiedWorld({ client, provider: { accessTokenTtl: TTL }, proxy })
      await world.login(world.browser)
      isLoggedIn = true
      world.clock.now += 3590
      const polled = send('/api/orders', { headers: { 'idp-client': 'background' } })
      await sent.opened
      world.clock.now += 5
      await world.browser.send('/page')
      used.open()
      expect((await polled).status).toBe(200)
      expect(await world.refreshes()).toHaveLength(1)
      world.clock.now += 3599
      expect(await world.client.getSession(world.browser.request('/'))).not.toBeNull()
    },
  )
})

describe('a token that is bound to the key of the client', () => {
  beforeEach(async () => {
    const client = {
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
      dpopOptions: { retry: { delay: 1 } },
    }
    world = await startProxiedWorld({ client, provider: { accessTokenTtl: TTL, requireDpop: true } })
    await world.login(world.browser)
  })

  const proofs = () =>
    world.upstream.requests.map((request) => {
      const [, payload = ''] = (request.header('dpop') ?? '').split('.')
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
    })

  test('is sent with a proof, with the nonce that the API demands', async () => {
    world.upstream.respond({ kind: 'useDpopNonce', nonce: 'n-1' }, { times: 1 })
    const response = await send('/api/orders/1?a=b', { method: 'POST', body: 'the body' })
    expect(response.status).toBe(200)
    expect(response.headers.get('dpop-nonce')).toBeNull()
    const htu = `${world.upstream.url}/1`
    expect(proofs()).toMatchObject([
      { htm: 'POST', htu },
      { htm: 'POST', htu, nonce: 'n-1' },
    ])
    expect(world.upstream.requests.map(({ bodyBytes }) => bodyBytes)).toEqual([8, 8])
    expect(world.upstream.requests[0]?.header('authorization')).toMatch(/^DPoP /)
  })

  test('a nonce for a body that cannot be sent again is a failure of the proxy', async () => {
    world.upstream.respond({ kind: 'useDpopNonce' })
    const response = await send('/api/orders', { method: 'PUT', body: new Uint8Array(MIB + 1) })
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([502, '1'])
    expect(await response.json()).toMatchObject({ code: 'FETCHER_BODY_NOT_REPLAYABLE' })
  })

  test('a nonce that is demanded again and again is a failure of the proxy', async () => {
    world.upstream.respond({ kind: 'useDpopNonce' })
    const response = await send('/api/orders')
    expect(await response.json()).toMatchObject({ code: 'FETCHER_NONCE_REFUSED' })
  })
})

describe('the API of a proxy', () => {
  test('gets a token for its audience and scope', async () => {
    const audience = 'https://orders.example.test/'
    world = await startProxiedWorld({
      provider: { apis: [{ audience, scopes: ['read:orders'] }] },
      proxy: { audience, scope: 'read:orders' },
    })
    await world.login(world.browser)
    expect((await send('/api/orders')).status).toBe(200)
    const [, payload = ''] = tokens()[0]?.split('.') ?? []
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ aud: audience })
  })

  test('is only for sessions that meet the guard', async () => {
    world = await startProxiedWorld({ proxy: { guard: { authorize: ({ sub }) => sub === 'dev|bob' } } })
    await world.login(world.browser)
    const response = await send('/api/orders')
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([403, '1'])
    expect(await response.json()).toMatchObject({ code: 'ACCESS_DENIED' })
    expect(targets()).toEqual([])
  })
})
