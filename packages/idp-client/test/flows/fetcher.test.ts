import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import type {
  AccessTokenFactory,
  Fetcher,
  FetcherOptions,
  GetAccessTokenOptions,
  IdpClient,
} from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import type { ApiResponse, ApiServer } from '../support/api-server.ts'
import { AUDIENCE, protectedApi, startApi } from '../support/api-server.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

const TTL = 600

let world: World
let api: ApiServer
beforeEach(async () => {
  world = await startWorld({ authorizationParameters: { audience: AUDIENCE } }, { accessTokenTtl: TTL })
  api = await startApi(protectedApi(world.provider))
})
afterEach(async () => {
  await api.stop()
  await world.provider.stop()
})

function pass(seconds: number): void {
  world.clock.now += seconds
}

/** A fetcher of a user who has just logged in. */
async function signedIn(options: FetcherOptions = {}, browser: Browser = world.browser): Promise<Fetcher> {
  await world.login(browser)
  return world.client.createFetcher(browser.request('/'), { baseUrl: api.origin, ...options })
}

async function read(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}

describe('createFetcher', () => {
  test('[S198,S200,S220,S224] calls the API with the access token of the session', async () => {
    const { fetchWithAuth } = await signedIn()
    const response = await fetchWithAuth('/orders?open=1')
    expect(response.status).toBe(200)
    expect(await read(response)).toEqual({
      sub: 'dev|alice',
      method: 'GET',
      path: '/orders?open=1',
      body: '',
    })
    const session = await world.client.getSession(world.browser.request('/'))
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${session?.tokenSet.accessToken}`)
  })

  test('[S198] sends no request when the fetcher is created', async () => {
    await world.login(world.browser)
    world.provider.clearRequests()
    await world.client.createFetcher(world.browser.request('/'), new Headers(), { baseUrl: api.origin })
    expect(world.provider.requests()).toEqual([])
    expect(api.requests).toEqual([])
  })

  test('[S203] without a session throws MISSING_SESSION, also with its own factory', async () => {
    const request = world.newBrowser().request('/')
    const error = { name: 'AccessTokenError', code: 'MISSING_SESSION' }
    await expect(world.client.createFetcher(request)).rejects.toMatchObject(error)
    const options = { getAccessToken: () => 'token' }
    await expect(world.client.createFetcher(request, options)).rejects.toMatchObject(error)
  })

  test('without a request uses the current request of each call', async () => {
    await world.login(world.browser)
    const response = await world.client.middleware(world.browser.request('/page'), async () => {
      const { fetchWithAuth } = await world.client.createFetcher({ baseUrl: api.origin })
      return fetchWithAuth('/')
    })
    expect((await read(response))['sub']).toBe('dev|alice')
    await expect(world.client.createFetcher({ baseUrl: api.origin })).rejects.toMatchObject({
      code: 'AMBIENT_REQUEST_MISSING',
    })
  })

  test.each<[string, object]>([
    ['baseUrl must be an absolute URL', { baseUrl: '/api' }],
    ['baseUrl must be an absolute URL', { baseUrl: 7 }],
    ['baseUrl must be https', { baseUrl: 'ftp://api.example.com' }],
    ['neither credentials nor query', { baseUrl: 'https://user:pass@api.example.com' }],
    ['neither credentials nor query', { baseUrl: 'https://api.example.com/?v=1' }],
    ['useDPoP must be true or false', { useDPoP: 'false' }],
    ['useDPoP needs a key pair', { useDPoP: true }],
    ['fetch must be a function', { fetch: {} }],
    ['getAccessToken must be a function', { getAccessToken: 'token' }],
  ])('wrong options: InvalidConfigurationError, %s', async (message, options) => {
    await world.login(world.browser)
    const failure = world.client.createFetcher(world.browser.request('/'), options as FetcherOptions)
    await expect(failure).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    await expect(failure).rejects.toThrow(message)
  })

  test('[S121] has types', () => {
    expectTypeOf<IdpClient['createFetcher']>().toBeCallableWith()
    expectTypeOf<IdpClient['createFetcher']>().toBeCallableWith({ useDPoP: true })
    expectTypeOf<IdpClient['createFetcher']>().toBeCallableWith({} as Request, new Headers(), { fetch })
    expectTypeOf<IdpClient['createFetcher']>().returns.resolves.toEqualTypeOf<Fetcher>()
    expectTypeOf<Fetcher['fetchWithAuth']>().toBeCallableWith('/', { refresh: true })
    expectTypeOf<Fetcher['fetchWithAuth']>().toBeCallableWith(
      new URL('https://a.example'),
      {},
      { scope: 'a' },
    )
    expectTypeOf<AccessTokenFactory>().parameter(0).toEqualTypeOf<GetAccessTokenOptions>()
    expectTypeOf<IdpClient['getAccessToken']>().toExtend<
      (options: GetAccessTokenOptions) => ReturnType<AccessTokenFactory>
    >()
    // @ts-expect-error: the base is a string
    const wrong: FetcherOptions = { baseUrl: new URL('https://api.example.com') }
    expect(wrong.baseUrl).toBeInstanceOf(URL)
  })
})

describe('tokens', () => {
  test('[S222] 20 calls at once with an expired token cause one refresh, which is on the response', async () => {
    await world.login(world.browser)
    pass(TTL + 1)
    world.provider.clearRequests()
    const headers = new Headers()
    const options = { baseUrl: api.origin }
    const fetcher = await world.client.createFetcher(world.browser.request('/'), headers, options)
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => fetcher.fetchWithAuth(`/${at}`)),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(api.requests.map((request) => request.headers.authorization)).size).toBe(1)
    expect(world.refreshes()).toHaveLength(1)
    world.browser.store(new Response(null, { headers }))
    const session = await world.client.getSession(world.browser.request('/'))
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${session?.tokenSet.accessToken}`)
  })

  test('[S222,S215] where cookies cannot be written the fresh token is kept until they can', async () => {
    const fetcher = await signedIn()
    pass(TTL + 1)
    expect((await fetcher.fetchWithAuth('/')).status).toBe(200)
    expect((await world.browser.send('/page')).headers.getSetCookie()).toHaveLength(1)
    const session = await world.client.getSession(world.browser.request('/'))
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${session?.tokenSet.accessToken}`)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('options of the token are the third argument, or the second', async () => {
    const asked: GetAccessTokenOptions[] = []
    const bodies: string[] = []
    const { fetchWithAuth } = await signedIn({
      getAccessToken: (options) => {
        asked.push(options)
        return 'token'
      },
      fetch: async (_input, init) => {
        bodies.push(String(init?.body ?? init?.method ?? ''))
        return new Response()
      },
    })
    await fetchWithAuth('/')
    await fetchWithAuth('/', { refresh: true })
    await fetchWithAuth('/', { audience: AUDIENCE, mergeScopes: false })
    await fetchWithAuth('/', { method: 'POST', body: 'a' }, { scope: 'read:things' })
    await fetchWithAuth('/', { method: 'PUT', refresh: true } as RequestInit)
    expect(asked).toEqual([
      {},
      { refresh: true },
      { audience: AUDIENCE, mergeScopes: false },
      { scope: 'read:things' },
      {},
    ])
    expect(bodies).toEqual(['', '', '', 'a', 'PUT'])
  })

  test('[S222] options of the token select it: a further audience has its own token', async () => {
    const other = 'https://orders.example.test/'
    const { fetchWithAuth } = await signedIn()
    await fetchWithAuth('/', { audience: other })
    const token = api.requests[0]?.headers.authorization?.split('.')[1] ?? ''
    expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toMatchObject({ aud: other })
  })

  test.each<[string, Awaited<ReturnType<AccessTokenFactory>>, string]>([
    ['a string', 'abc', 'Bearer abc'],
    ['an AccessToken', { token: 'abc', token_type: 'bearer' }, 'Bearer abc'],
    ['a TokenSet', { accessToken: 'abc' }, 'Bearer abc'],
    ['the result of an exchange', { accessToken: 'abc', tokenType: 'Bearer' }, 'Bearer abc'],
  ])('[S200] a factory may bring %s', async (_what, token, expected) => {
    const seen: (string | null)[] = []
    const { fetchWithAuth } = await signedIn({
      getAccessToken: async () => token,
      fetch: async (_input, init) => {
        seen.push(new Headers(init?.headers).get('authorization'))
        return new Response()
      },
    })
    await fetchWithAuth('/')
    expect(seen).toEqual([expected])
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'FETCHER_TOKEN_UNUSABLE'],
    ['an empty text', '', 'FETCHER_TOKEN_UNUSABLE'],
    ['a line break', 'abc\r\nx: y', 'FETCHER_TOKEN_UNUSABLE'],
    ['no token', { expiresAt: 1 }, 'FETCHER_TOKEN_UNUSABLE'],
    ['another type', { token: 'abc', token_type: 'mac' }, 'FETCHER_TOKEN_UNUSABLE'],
    ['a bound token without DPoP', { token: 'abc', token_type: 'dpop' }, 'FETCHER_TOKEN_BOUND'],
  ])('a factory that brings %s: typed error, nothing is sent', async (_what, token, code) => {
    const { fetchWithAuth } = await signedIn({ getAccessToken: (() => token) as AccessTokenFactory })
    const failure = fetchWithAuth('/')
    await expect(failure).rejects.toMatchObject({ code })
    await expect(failure).rejects.not.toThrow('abc')
    expect(api.requests).toEqual([])
  })

  test('an exception of a factory is thrown to the caller', async () => {
    const reason = new Error('vault is sealed')
    const { fetchWithAuth } = await signedIn({ getAccessToken: () => Promise.reject(reason) })
    await expect(fetchWithAuth('/')).rejects.toBe(reason)
  })
})

describe('addresses', () => {
  test.each([
    ['', 'orders', '/orders'],
    ['', '/orders', '/orders'],
    ['/', '/orders', '/orders'],
    ['/v1', 'orders', '/v1/orders'],
    ['/v1/', '/orders?a=//b#c', '/v1/orders?a=//b'],
    ['/v1', '//other.example/orders', '/v1/other.example/orders'],
    ['/v1', '/\\other.example', '/v1//other.example'],
    ['/v1', '?a=1', '/v1?a=1'],
    ['/v1', '', '/v1'],
    ['/v1', '/orders/../items', '/v1/items'],
  ])('[S201,S224] base %j and %j: %s', async (base, address, path) => {
    const { fetchWithAuth } = await signedIn({ baseUrl: api.origin + base })
    expect((await read(await fetchWithAuth(address)))['path']).toBe(path)
  })

  test('[S201] a relative URL without baseUrl: FETCHER_BASE_URL_MISSING', async () => {
    const fetcher = await signedIn({ baseUrl: undefined })
    await expect(fetcher.fetchWithAuth('/orders')).rejects.toMatchObject({ code: 'FETCHER_BASE_URL_MISSING' })
    expect((await fetcher.fetchWithAuth(`${api.origin}/orders`)).status).toBe(200)
  })

  test.each<[string, string | URL | Request]>([
    ['https', 'https://other.example/'],
    ['behind a space', ' https://other.example/'],
    ['without slashes', 'https:other.example'],
    ['another port', 'http://127.0.0.1:1/'],
    ['data', 'data:text/plain,x'],
    ['file', 'file:///etc/passwd'],
    ['a URL', new URL('https://other.example/')],
    ['a Request', new Request('https://other.example/')],
  ])(
    'an address of another origin than baseUrl, %s: refused before anything is sent',
    async (_what, input) => {
      const calls: unknown[] = []
      const fetcher = await signedIn({
        fetch: async (...call) => {
          calls.push(call)
          return new Response()
        },
      })
      pass(TTL + 1)
      await expect(fetcher.fetchWithAuth(input)).rejects.toMatchObject({ code: 'FETCHER_URL_REFUSED' })
      expect(calls).toEqual([])
      expect(world.refreshes()).toEqual([])
    },
  )

  test('an address with credentials is refused', async () => {
    const { fetchWithAuth } = await signedIn()
    const refused = fetchWithAuth(api.origin.replace('//', '//user:pass@'))
    await expect(refused).rejects.toMatchObject({ code: 'FETCHER_URL_REFUSED' })
  })

  const escapes = ['../admin', '/..', '/orders/../../admin', '/.%2E/admin', '..\\admin', '/../v10']
  test.each(escapes)(
    '[G6] %s leaves the path of baseUrl: rejected before anything is sent',
    async (address) => {
      const { fetchWithAuth } = await signedIn({ baseUrl: `${api.origin}/v1` })
      api.requests.length = 0
      await expect(fetchWithAuth(address)).rejects.toMatchObject({ code: 'FETCHER_URL_REFUSED' })
      expect(api.requests).toEqual([])
    },
  )

  test('[G6] a Request that reports another URL than its own is rejected', async () => {
    const elsewhere = await startApi(() => ({}))
    const { fetchWithAuth } = await signedIn()
    class Liar extends Request {
      override get url(): string {
        return `${api.origin}/orders`
      }
    }
    await expect(fetchWithAuth(new Liar(`${elsewhere.origin}/`))).rejects.toMatchObject({
      code: 'FETCHER_URL_REFUSED',
    })
    const foreign = {
      headers: {},
      method: 'POST',
      body: 'text',
      asked: 0,
      get url(): string {
        this.asked += 1
        return this.asked === 1 ? `${api.origin}/orders` : `${elsewhere.origin}/`
      },
    }
    const sent = await read(await fetchWithAuth(foreign as unknown as Request))
    expect(sent).toMatchObject({ path: '/orders', method: 'POST', body: 'text' })
    expect(elsewhere.requests).toEqual([])
    await elsewhere.stop()
  })

  test('plain http is allowed on this machine only, or with allowInsecureRequests', async () => {
    const calls: string[] = []
    const fetch: typeof globalThis.fetch = async (input) => {
      calls.push(String(input))
      return new Response()
    }
    const lax = await signedIn({ baseUrl: 'http://api.internal/', fetch })
    await lax.fetchWithAuth('/')
    const { client } = world.another({ allowInsecureRequests: false, domain: 'idp.example.com' })
    const cookie = await generateCookieHeader({ user: { sub: 'carol' } }, { secret: SECRET })
    const request = new Request('https://app.example.com/', { headers: { cookie } })
    const strict = await client.createFetcher(request, { fetch })
    await expect(strict.fetchWithAuth('http://api.internal/')).rejects.toMatchObject({
      code: 'FETCHER_URL_REFUSED',
    })
    await strict.fetchWithAuth('http://localhost:8080/')
    const wrong = client.createFetcher(request, { baseUrl: 'http://api.internal/' })
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    expect(calls).toEqual(['http://api.internal/', 'http://localhost:8080/'])
  })
})

/** An API that tells what it was sent. */
async function echo(respond: (path: string) => ApiResponse = () => ({})): Promise<ApiServer> {
  await api.stop()
  api = await startApi(({ path }) => respond(path))
  return api
}

describe('requests and responses', () => {
  test('init is sent, except an Authorization header', async () => {
    await echo()
    const { fetchWithAuth } = await signedIn()
    const headers = { Authorization: 'Basic abc', DPoP: 'proof', 'X-Trace': '1', 'Content-Type': 'text/csv' }
    await fetchWithAuth('/', { method: 'PATCH', headers, body: 'a,b' })
    expect(api.requests[0]).toMatchObject({ method: 'PATCH', body: 'a,b' })
    expect(api.requests[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer [^,]+$/),
      'x-trace': '1',
      'content-type': 'text/csv',
    })
    expect(api.requests[0]?.headers['dpop']).toBeUndefined()
  })

  test('a Request is sent, init overrides it', async () => {
    await echo()
    const { fetchWithAuth } = await signedIn()
    const request = (): Request =>
      new Request(`${api.origin}/things`, {
        method: 'POST',
        headers: { authorization: 'Basic abc', 'x-trace': '1', 'content-type': 'text/csv' },
        body: 'a,b',
      })
    await fetchWithAuth(request())
    await fetchWithAuth(request(), { method: 'PUT', headers: { 'x-trace': '2' }, body: 'c' })
    await fetchWithAuth(new URL(`${api.origin}/url`))
    expect(api.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/things', 'a,b'],
      ['PUT', '/things', 'c'],
      ['GET', '/url', ''],
    ])
    expect(api.requests[0]?.headers).toMatchObject({ 'x-trace': '1', 'content-type': 'text/csv' })
    expect(api.requests[1]?.headers).toMatchObject({ 'x-trace': '2' })
    for (const { headers } of api.requests) expect(headers.authorization).toMatch(/^Bearer /)
  })

  test('a form keeps its boundary', async () => {
    await echo()
    const { fetchWithAuth } = await signedIn()
    const form = new FormData()
    form.set('file', new Blob(['content']), 'a.txt')
    await fetchWithAuth('/', { method: 'POST', body: form })
    const { body = '', headers } = api.requests[0] ?? {}
    const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(headers?.['content-type'] ?? '') ?? []
    expect(boundary).toBeDefined()
    expect(body).toContain(`--${boundary}`)
    expect(body).toContain('content')
  })

  test('streams are passed through in both directions', async () => {
    const arrived: string[] = []
    const server = createServer((request, response) => {
      request.setEncoding('utf8')
      request.on('data', (chunk: string) => {
        arrived.push(chunk)
        response.write(`got ${chunk};`)
      })
      request.on('end', () => response.end('end'))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const { fetchWithAuth } = await signedIn({ baseUrl: `http://127.0.0.1:${port}` })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const text = new TextEncoder()
    await Promise.all([
      writer.write(text.encode('one')),
      (async () => {
        const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: readable, duplex: 'half' }
        const response = await fetchWithAuth('/', init)
        // The first chunk is returned before the second one exists: bodies are not buffered.
        expect(arrived).toEqual(['one'])
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
        expect((await reader?.read())?.value).toBe('got one;')
        await writer.write(text.encode('two'))
        await writer.close()
        let rest = ''
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
          rest += part.value
        expect(rest).toBe('got two;end')
      })(),
    ])
    await new Promise((resolve) => server.close(resolve))
  })

  test('the API receives no telemetry, no cookie and no client secret', async () => {
    await echo()
    const { fetchWithAuth } = await signedIn()
    await fetchWithAuth('/', { method: 'POST', body: 'x' })
    const sent = api.requests[0]
    expect(Object.keys(sent?.headers ?? {})).not.toContain('cookie')
    expect(JSON.stringify(sent)).not.toContain('idp-client')
    expect(JSON.stringify(sent)).not.toContain(world.provider.clientSecret)
  })

  test('[S202] a custom fetch is used for the calls to the API only', async () => {
    const calls: [unknown, RequestInit | undefined, unknown][] = []
    const signal = new AbortController().signal
    const { fetchWithAuth } = await signedIn({
      fetch: async function (this: unknown, input, init) {
        calls.push([input, init, this])
        return new Response('own')
      },
    })
    pass(TTL + 1)
    const ofTheHost = { next: { tags: ['a'] } }
    const init: RequestInit = { method: 'POST', body: 'x', signal, cache: 'no-store', ...ofTheHost }
    expect(await (await fetchWithAuth('/', init)).text()).toBe('own')
    expect(world.refreshes()).toHaveLength(1)
    expect(api.requests).toEqual([])
    expect(calls).toEqual([
      [`${api.origin}/`, { ...init, headers: expect.any(Headers), redirect: 'manual' }, undefined],
    ])
  })

  test('[S202] the default is the global fetch at the time of the call', async () => {
    const { fetchWithAuth } = await signedIn()
    const original = globalThis.fetch
    globalThis.fetch = async () => new Response('replaced')
    try {
      expect(await (await fetchWithAuth('/')).text()).toBe('replaced')
    } finally {
      globalThis.fetch = original
    }
  })

  test('a redirect is returned, not followed; the token is sent nowhere else', async () => {
    const elsewhere = await startApi(() => ({}))
    await echo((path) => ({ status: path === '/see' ? 303 : 307, headers: { location: elsewhere.origin } }))
    const { fetchWithAuth } = await signedIn()
    const response = await fetchWithAuth('/', { redirect: 'follow' })
    expect([response.status, response.headers.get('location')]).toEqual([307, elsewhere.origin])
    expect(
      (await fetchWithAuth(new Request(`${api.origin}/see`, { method: 'POST', body: 'x' }))).status,
    ).toBe(303)
    await expect(fetchWithAuth('/', { redirect: 'error' })).rejects.toThrow(TypeError)
    await expect(fetchWithAuth(new Request(`${api.origin}/`, { redirect: 'error' }))).rejects.toThrow(
      TypeError,
    )
    expect(elsewhere.requests).toEqual([])
    await elsewhere.stop()
  })

  test.each([401, 403, 404, 429, 500])('a response %s is returned, without a retry', async (status) => {
    await echo(() => ({
      status,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      body: 'no',
    }))
    const { fetchWithAuth } = await signedIn()
    const response = await fetchWithAuth('/')
    expect([response.status, await response.text()]).toEqual([status, 'no'])
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    expect(api.requests).toHaveLength(1)
  })

  test('network errors are those of fetch, without the token', async () => {
    const { fetchWithAuth } = await signedIn()
    await api.stop()
    const error: unknown = await fetchWithAuth('/').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    const session = await world.client.getSession(world.browser.request('/'))
    expect(inspect(error)).not.toContain(session?.tokenSet.accessToken)
  })

  test('the signal of the caller aborts a call; there is no other time limit', async () => {
    const { fetchWithAuth } = await signedIn()
    const reason = new Error('enough')
    await expect(fetchWithAuth('/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(api.requests).toEqual([])
  })
})

describe('state is not shared between users', () => {
  test('40 calls of two users at once send their own tokens', async () => {
    const bob = world.newBrowser()
    await world.login(bob, '', { user: 'bob' })
    const ofAlice = await signedIn()
    const ofBob = await world.client.createFetcher(bob.request('/'), { baseUrl: api.origin })
    const calls = Array.from({ length: 40 }, (_, at) => (at % 2 ? ofBob : ofAlice).fetchWithAuth(`/${at}`))
    const bodies = await Promise.all(calls.map(async (call) => read(await call)))
    expect(bodies.map(({ sub }) => sub)).toEqual(
      Array.from({ length: 40 }, (_, at) => (at % 2 ? 'dev|bob' : 'dev|alice')),
    )
  })
})
