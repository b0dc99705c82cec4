import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions, ProxyOptions } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import type { ProxiedWorld } from '../support/proxied.ts'
import { fromPage, OWN, startProxiedWorld } from '../support/proxied.ts'

let world: ProxiedWorld
afterEach(() => world.stop())

async function signedIn(proxy: Partial<ProxyOptions> = {}, client: IdpClientOptions = {}): Promise<void> {
  world = await startProxiedWorld({ proxy, client })
  await world.login(world.browser)
}

const send = (path: string, init: Parameters<typeof fromPage>[2] = {}) =>
  world.client.middleware(fromPage(world.browser, path, init))

async function expectRefusal(response: Response, status: number, code: string): Promise<void> {
  expect([response.status, response.headers.get('idp-client-error')]).toEqual([status, '1'])
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect(await response.json()).toEqual({
    error: code.toLowerCase(),
    code,
    description: expect.stringMatching(/\.$/),
  })
  expect(world.upstream.connections).toBe(0)
}

describe('a proxied request', () => {
  beforeEach(() => signedIn())

  test('gets the token of the session, path and query, and nothing of the browser', async () => {
    const headers = {
      accept: 'application/json',
      authorization: 'Bearer stolen',
      dpop: 'stolen',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'x-http-method-override': 'DELETE',
      'x-custom': 'value',
      'if-none-match': '"1"',
    }
    const response = await send('/api/orders/7?open=1&open=%27', { headers })
    expect(response.status).toBe(200)
    const [request] = world.upstream.requests
    const { tokenSet } = await world.browser.session()
    expect(request).toMatchObject({
      method: 'GET',
      target: '/v1/7?open=1&open=%27',
      token: tokenSet.accessToken,
    })
    const names = request?.headers.map(([name]) => name.toLowerCase()) ?? []
    const own = ['accept', 'accept-encoding', 'authorization', 'if-none-match']
    const ofFetch = [
      'accept-language',
      'cache-control',
      'connection',
      'pragma',
      'host',
      'sec-fetch-mode',
      'user-agent',
    ]
    expect(names.filter((name) => !ofFetch.includes(name)).sort()).toEqual(own)
    expect(request?.header('accept-encoding')).toBe('identity')
  })

  test.each([
    ['POST', '/api/orders', '/v1'],
    ['PUT', '/api/orders/', '/v1/'],
    ['PATCH', '/api/orders/a//b', '/v1/a//b'],
    ['DELETE', '/api/orders/caf%C3%A9', '/v1/caf%C3%A9'],
  ])('%s %s has its body', async (method, path, target) => {
    const headers = { 'content-type': 'application/json', 'content-length': '7' }
    const response = await send(path, { method, body: '{"a":1}', headers })
    expect(await response.json()).toMatchObject({ method, target, bytes: 7 })
    expect(world.upstream.requests[0]?.header('content-type')).toBe('application/json')
    expect(world.upstream.requests[0]?.header('content-length')).toBe('7')
  })

  test('HEAD has no body', async () => {
    const response = await send('/api/orders', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('has the policies of data in its response, and only the headers that are allowed', async () => {
    world.upstream.respond({
      kind: 'respond',
      headers: [
        ['Content-Type', 'text/html'],
        ['Set-Cookie', 'a=b'],
        ['ETag', '"1"'],
        ['RateLimit-Remaining', '9'],
        ['X-Internal', 'secret'],
        ['Access-Control-Allow-Origin', '*'],
        ['Cache-Control', 'public, max-age=60'],
        ['Connection', 'etag'],
      ],
      body: '<script>1</script>',
    })
    const { headers } = await send('/api/orders')
    expect(Object.fromEntries(headers)).toEqual({
      'cache-control': expect.stringContaining('no-store'),
      'content-security-policy': "sandbox; default-src 'none'",
      'content-type': 'text/html',
      'cross-origin-resource-policy': 'same-origin',
      expires: '0',
      pragma: 'no-cache',
      'ratelimit-remaining': '9',
      'x-content-type-options': 'nosniff',
    })
  })

  test.each([
    ['a redirect inward', { location: '/v1/8?a=b', status: 302 }, 302, '/api/orders/8?a=b'],
    ['a created resource', { location: '8', status: 201 }, 201, '/api/orders/8'],
  ])('%s is rewritten', async (_name, redirect, status, location) => {
    world.upstream.respond({ kind: 'redirect', ...redirect })
    const response = await send('/api/orders/7')
    expect([response.status, response.headers.get('location')]).toEqual([status, location])
  })

  test.each(['https://evil.example/', '/v2', '//evil.example/v1', 'javascript:alert(1)'])(
    'a redirect to %s is refused',
    async (location) => {
      world.upstream.respond({ kind: 'redirect', location })
      const response = await send('/api/orders')
      expect([response.status, response.headers.get('location')]).toEqual([502, null])
      expect(await response.json()).toMatchObject({ code: 'PROXY_REDIRECT_REFUSED' })
    },
  )
})

describe('who may', () => {
  const from = (headers: Record<string, string>, method = 'GET') =>
    world.client.middleware(world.browser.request('/api/orders', { method, headers }))

  test('a request without a session gets 401 with a code', async () => {
    world = await startProxiedWorld()
    await expectRefusal(await send('/api/orders'), 401, 'NOT_AUTHENTICATED')
  })

  test.each([
    ['a page of a browser without Fetch Metadata', { origin: APP }, 'POST'],
    ['a GET that says so', { 'idp-client': '1' }, 'GET'],
    ['a HEAD in the background', { 'idp-client': 'background' }, 'HEAD'],
    [
      'an image',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      'GET',
    ],
  ])('%s may', async (_name, headers, method) => {
    await signedIn()
    expect((await from(headers, method)).status).toBe(200)
  })

  test.each([
    ['another site', { ...OWN, 'sec-fetch-site': 'cross-site' }, 'GET'],
    ['a sibling', { ...OWN, 'sec-fetch-site': 'same-site' }, 'GET'],
    ['the address bar', { ...OWN, 'sec-fetch-site': 'none' }, 'GET'],
    ['another origin', { ...OWN, origin: 'https://evil.example' }, 'GET'],
    ['an origin that is null', { ...OWN, origin: 'null' }, 'POST'],
    ['nobody', {}, 'GET'],
    ['nobody, with a write', { 'idp-client': '1' }, 'POST'],
    ['a header of another value', { 'idp-client': 'yes' }, 'GET'],
  ])('%s may not', async (_name, headers, method) => {
    await signedIn()
    await expectRefusal(await from(headers, method), 403, 'CROSS_SITE_REQUEST')
  })

  test.each([
    'document',
    'iframe',
    'script',
    'style',
    'worker',
    'serviceworker',
    'object',
    'manifest',
    'font',
  ])('a request for a %s is refused', async (destination) => {
    await signedIn()
    await expectRefusal(await from({ ...OWN, 'sec-fetch-dest': destination }), 403, 'PROXY_DOCUMENT_REFUSED')
  })

  test('a navigation is refused', async () => {
    await signedIn()
    await expectRefusal(await from({ ...OWN, 'sec-fetch-mode': 'navigate' }), 403, 'PROXY_DOCUMENT_REFUSED')
  })

  test('a WebSocket is refused, which is not a failure of the application: anybody can ask for one', async () => {
    world = await startProxiedWorld()
    await expectRefusal(await from({ ...OWN, upgrade: 'websocket' }), 501, 'PROXY_UPGRADE_REFUSED')
    expect(world.events).toEqual([
      expect.objectContaining({ level: 'info', code: 'REQUEST_FAILED', error: 'PROXY_UPGRADE_REFUSED' }),
    ])
  })

  test.each(['OPTIONS', 'PURGE'])('%s is refused', async (method) => {
    await signedIn()
    const response = await from({ ...OWN, origin: APP }, method)
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE')
    await expectRefusal(response, 405, 'PROXY_METHOD_REFUSED')
  })

  test('a method that is not listed is refused', async () => {
    await signedIn({ methods: ['GET'] })
    await expectRefusal(await send('/api/orders', { method: 'POST' }), 405, 'PROXY_METHOD_REFUSED')
  })

  test('a host that the application does not have may not', async () => {
    await signedIn({}, { appBaseUrl: [APP, 'https://other.example'] })
    const { cookie = '' } = Object.fromEntries(world.browser.request('/').headers)
    const request = new Request('http://evil.example/api/orders', { headers: { ...OWN, cookie } })
    await expectRefusal(await world.client.middleware(request), 400, 'BASE_URL_NOT_ALLOWED')
  })

  test('a refusal is logged once a minute', async () => {
    await signedIn()
    for (let request = 0; request < 5; request++) await from({})
    const refusals = () =>
      world.events.filter((event) => 'error' in event && event.error === 'CROSS_SITE_REQUEST')
    expect(refusals()).toMatchObject([{ level: 'info', code: 'REQUEST_FAILED' }])
    world.clock.now += 61
    await from({})
    expect(refusals()[1]).toMatchObject({ detail: expect.stringContaining('4 more') })
  })
})

test('a failure of the session store is reported as one, with its reason, and with its effect', async () => {
  const get = async (): Promise<never> => {
    throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
  }
  const store = memoryStore({ name: 'proxied' })
  await signedIn({}, { sessionStore: store })
  const { client } = world.another({ sessionStore: { ...store, get } })
  client.proxy({ prefix: '/api/orders', target: world.upstream.url })
  world.events.length = 0
  const response = await client.middleware(fromPage(world.browser, '/api/orders'))
  await expectRefusal(response, 503, 'SESSION_STORE_FAILED')
  const failure = { operation: 'get', reason: 'ECONNREFUSED' }
  expect(world.events).toEqual([
    expect.objectContaining({ level: 'error', code: 'SESSION_STORE_FAILED', ...failure }),
    expect.objectContaining({
      level: 'error',
      code: 'REQUEST_FAILED',
      error: 'SESSION_STORE_FAILED',
      ...failure,
    }),
  ])
})

describe('the path', () => {
  beforeEach(() => signedIn())

  test.each([
    '/api/orders/a%2fb',
    '/api/orders/..%2f..%2fadmin',
    '/api/orders/a%5cb',
    '/api/orders/%252e%252e',
    '/api/orders/100%25',
  ])('%s is refused', async (path) => {
    await expectRefusal(await send(path), 400, 'PROXY_PATH_REFUSED')
  })

  test.each(['/api/orders2', '/api/Orders', '/api/order', '/api/orders/../other'])(
    '%s is not its own',
    async (path) => {
      const response = await world.client.middleware(
        fromPage(world.browser, path),
        () => new Response('page'),
      )
      expect(await response.text()).toBe('page')
      expect(world.upstream.connections).toBe(0)
    },
  )

  test('of a longer prefix belongs to that proxy', async () => {
    world.client.proxy({ prefix: '/api/orders/archive', target: `${world.upstream.url}/old` })
    await send('/api/orders/archive/1')
    await send('/api/orders/archives')
    expect(world.upstream.requests.map(({ target }) => target)).toEqual(['/v1/old/1', '/v1/archives'])
  })

  test.each([
    '/api/orders/%61dmin/x',
    '/api/orders//admin/x',
    '/api/orders/admin;a/x',
    '/api/orders/%2561dmin',
    '/api/orders/Admin',
    '/api/orders/admin;%E2%80%A8x',
    '/api/orders/admin%3Fx/y',
    '/api/orders/admin%23x',
    '/api/orders/admin%20',
    '/api/orders/admin.',
  ])('%s does not evade the guard of a longer prefix', async (path) => {
    const guard = { authorize: () => false }
    world.client.proxy({ prefix: '/api/orders/admin', target: `${world.upstream.url}/admin`, guard })
    await expectRefusal(await send(path), 400, 'PROXY_PATH_REFUSED')
    await expectRefusal(await send('/api/orders/admin/x'), 403, 'ACCESS_DENIED')
    expect((await send('/api/orders/administrators')).status).toBe(200)
  })

  test('in lower case does not evade the guard of a longer prefix in upper case', async () => {
    const guard = { authorize: () => false }
    world.client.proxy({ prefix: '/api/orders/Admin', target: `${world.upstream.url}/admin`, guard })
    await expectRefusal(await send('/api/orders/admin/x'), 400, 'PROXY_PATH_REFUSED')
  })

  test('handle responds where no middleware serves it', async () => {
    const orders = world.client.proxy({ prefix: '/other', target: world.upstream.url })
    expect(await orders.handle(fromPage(world.browser, '/elsewhere'))).toBeNull()
    world.client.proxy({ prefix: '/other/admin', target: `${world.upstream.url}/admin` })
    expect((await orders.handle(fromPage(world.browser, '/other/admin/x')))?.status).toBe(400)
    const response = await orders.handle(fromPage(world.browser, '/other/1'))
    expect(response?.status).toBe(200)
  })
})

describe('caching', () => {
  const cacheable = {
    kind: 'respond',
    headers: [
      ['Cache-Control', 'private, max-age=60'],
      ['Vary', 'Accept'],
    ],
    body: 'x',
  } as const

  test('is that of the API if the proxy says so, for each user', async () => {
    await signedIn({ cache: 'upstream' })
    world.upstream.respond(cacheable)
    const { headers } = await send('/api/orders')
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
      'private, max-age=60',
      'Accept, Cookie',
    ])
  })

  test('is allowed to browsers alone if the API does not decide: its caches see a token, those in front of us only a cookie', async () => {
    await signedIn({ cache: 'upstream' })
    world.upstream.respond({ kind: 'respond', headers: [['ETag', '"1"']], body: 'x' })
    const { headers } = await send('/api/orders')
    expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['private', '"1"'])
  })

  test('is forbidden by default, also for caches that have a header of their own', async () => {
    await signedIn({ responseHeaders: ['CDN-Cache-Control', 'Surrogate-Control'] })
    const [name, value] = ['CDN-Cache-Control', 'public, max-age=60'] as const
    world.upstream.respond({ ...cacheable, headers: [...cacheable.headers, [name, value]] })
    const { headers } = await send('/api/orders')
    expect(headers.get('cache-control')).toContain('no-store')
    expect([headers.get(name), headers.get('surrogate-control')]).toEqual(['no-store', null])
  })

  test('is forbidden for a response with a cookie of ours', async () => {
    await signedIn({ cache: 'upstream' }, { session: { rolling: true } })
    world.upstream.respond(cacheable)
    world.clock.now += 1800
    const { headers } = await send('/api/orders')
    expect(headers.getSetCookie()).not.toEqual([])
    expect(headers.get('cache-control')).toContain('no-store')
  })
})

describe('a body that the API would misread without a header that does not pass', () => {
  const upload = (headers: Record<string, string>) =>
    send('/api/orders', { method: 'PUT', body: 'the body', headers })

  test.each([
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'identity, BR' },
    { 'content-range': 'bytes 0-7/100' },
  ])('%j is refused, and not sent', async (headers) => {
    await signedIn()
    const response = await upload(headers)
    expect(response.headers.get('accept-encoding')).toBe('identity')
    await expectRefusal(response, 415, 'PROXY_CONTENT_REFUSED')
  })

  test('is refused if Connection names the header, so that it does not pass', async () => {
    await signedIn({ requestHeaders: ['Content-Encoding'] })
    const headers = { connection: 'Content-Encoding', 'content-encoding': 'gzip' }
    await expectRefusal(await upload(headers), 415, 'PROXY_CONTENT_REFUSED')
  })

  test.each(['identity', ' Identity ', ''])(
    'passes with the encoding "%s", which means none',
    async (value) => {
      await signedIn()
      expect((await upload({ 'content-encoding': value })).status).toBe(200)
      expect(world.upstream.requests[0]).toMatchObject({ bodyBytes: 8 })
    },
  )

  test('passes with the header if the options add that', async () => {
    await signedIn({ requestHeaders: ['Content-Encoding', 'Content-Range'] })
    const headers = { 'content-encoding': 'gzip', 'content-range': 'bytes 0-7/100' }
    expect((await upload(headers)).status).toBe(200)
    const [request] = world.upstream.requests
    expect(request).toMatchObject({ bodyBytes: 8 })
    expect([request?.header('content-encoding'), request?.header('content-range')]).toEqual([
      'gzip',
      'bytes 0-7/100',
    ])
  })

  test('does not matter to a request without one', async () => {
    await signedIn()
    expect((await send('/api/orders', { headers: { 'content-encoding': 'gzip' } })).status).toBe(200)
  })
})

describe('headers that the options add', () => {
  test('pass in both directions', async () => {
    await signedIn({ requestHeaders: ['X-Tenant'], responseHeaders: ['X-Total'] })
    world.upstream.respond({ kind: 'respond', headers: [['X-Total', '3']], body: 'x' })
    const { headers } = await send('/api/orders', { headers: { 'x-tenant': 'one' } })
    expect(headers.get('x-total')).toBe('3')
    expect(world.upstream.requests[0]?.header('x-tenant')).toBe('one')
  })

  test('do not pass if Connection names them', async () => {
    await signedIn({ requestHeaders: ['X-Tenant'], responseHeaders: ['X-Named'] })
    world.upstream.respond({ kind: 'connectionNamed' })
    const headers = { connection: 'close, X-Tenant', 'x-tenant': 'one' }
    expect((await send('/api/orders', { headers })).headers.get('x-named')).toBeNull()
    expect(world.upstream.requests[0]?.header('x-tenant')).toBeUndefined()
  })
})

describe('a proxy', () => {
  const options = {
    domain: 'idp.example',
    clientId: 'app',
    clientSecret: 's',
    secret: SECRET,
    appBaseUrl: APP,
  }
  const target = 'https://orders.example/v1'

  const noticesOf = (further: IdpClientOptions, proxy: Partial<ProxyOptions> = {}) => {
    const notices: string[] = []
    const logger: IdpClientOptions['logger'] = (event) => {
      if (event.code === 'NOTICE') notices.push(event.message)
    }
    new IdpClient({ ...options, ...further, logger }).proxy({ prefix: '/api', target, ...proxy })
    return notices
  }

  beforeEach(async () => {
    world = await startProxiedWorld()
  })

  test('names the route of access tokens, unless the application has decided about it', () => {
    expect(noticesOf({ enableAccessTokenEndpoint: true })).toEqual([])
    expect(noticesOf({ enableAccessTokenEndpoint: false })).toEqual([])
    expect(noticesOf({})).toEqual([expect.stringContaining('enableAccessTokenEndpoint')])
  })

  test('names plain http in a network in production', () => {
    const insecure = { target: 'http://orders.internal', insecureTarget: true }
    const decided = { enableAccessTokenEndpoint: false }
    expect(noticesOf(decided, insecure)).toEqual([])
    vi.stubEnv('NODE_ENV', 'production')
    const notices = [noticesOf(decided), noticesOf(decided, insecure)]
    vi.unstubAllEnvs()
    expect(notices).toEqual([[], [expect.stringContaining('plain http (insecureTarget)')]])
  })

  test('responds with 500 while the configuration is incomplete, which was reported already', async () => {
    const events: unknown[] = []
    const { clientSecret: _missing, ...incomplete } = options
    const idp = new IdpClient({ ...incomplete, logger: (event) => events.push(event) })
    idp.proxy({ prefix: '/api', target })
    const reported = events.length
    const response = await idp.middleware(fromPage(world.browser, '/api/orders'))
    expect([response.status, await response.json()]).toEqual([
      500,
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    ])
    expect(events).toHaveLength(reported)
  })

  test('needs sessions', () => {
    const idp = new IdpClient({
      domain: 'idp.example',
      sessions: false,
      appBaseUrl: APP,
      logger: () => undefined,
    })
    expect(() => idp.proxy({ prefix: '/api', target })).toThrow('idp.proxy: it needs a session')
  })

  test('has a prefix of its own', () => {
    const idp = new IdpClient({ ...options, logger: () => undefined })
    idp.proxy({ prefix: '/api', target })
    idp.proxy({ prefix: '/api', target })
    expect(() => idp.proxy({ prefix: '/api', target: 'https://other.example' })).toThrow('same prefix')
    expect(() => idp.proxy({ prefix: '/api', target, guard: { scope: 'a' } })).toThrow('same prefix')
  })

  test.each([
    ['a wrong guard', { guard: { scop: 'a' } }, 'idp.proxy: scop is not an option'],
    ['an authorize that was not found', { guard: { authorize: undefined } }, 'authorize must be a function'],
  ])('is not created with %s', (_name, proxy, message) => {
    const idp = new IdpClient({ ...options, logger: () => undefined })
    const wrong = { prefix: '/api', target, ...proxy } as unknown as ProxyOptions
    expect(() => idp.proxy(wrong)).toThrow(message)
  })
})
