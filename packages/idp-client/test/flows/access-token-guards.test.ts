import { describe, expect, test, vi } from 'vitest'
import type { Auth, IdpClient, ResourceGuardOptions, ResourceOptions } from '../../src/index.ts'
import { isContinue } from '../../src/index.ts'
import { openLogin } from '../support/guard-login.ts'
import type { GuardedApi, Options } from '../support/guarded-api.ts'
import { API, INVALID, provideGuardedApi, SCOPES } from '../support/guarded-api.ts'

/** Guards that accept access tokens, beside sessions or alone. */

let api: GuardedApi
provideGuardedApi((started) => {
  api = started
})

describe('credentials', () => {
  test('none: 401 that names the scope, without an error', async () => {
    for (const mixed of [false, true]) {
      expect(await api.call({}, { mixed })).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(
          /^Bearer realm="https:\/\/api\.example\.test\/", DPoP algs="RS256 [\w ]+"$/,
        ),
      })
      expect(await api.call({}, { mixed, scope: 'read:things' })).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(
          /^Bearer scope="read:things", DPoP scope="read:things", algs="RS256 [\w ]+"$/,
        ),
      })
    }
  })

  test('another scheme is ignored where sessions are accepted, and no credential elsewhere', async () => {
    const authorization = 'Basic dTpw'
    expect(await api.call({ authorization, cookie: true })).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(/^Bearer realm="[^"]+", DPoP algs="RS256 [\w ]+"$/),
    })
    expect(await api.call({ authorization, cookie: true }, { mixed: true })).toMatchObject({
      status: 200,
      auth: { kind: 'session', sub: 'dev|alice' },
    })
  })

  test('a client on a page of another origin gets the challenge, if it sends no cookie', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://client.example' }
    const outcome = await api.call({ headers, method: 'POST' }, { mixed: true })
    expect([outcome.status, outcome.error]).toEqual([401, 'not_authenticated'])
    expect(outcome.challenge).toMatch(/^Bearer realm="[^"]+", DPoP /)
  })

  test('a token in the query or a form is not read', async () => {
    const { client } = api.world
    const resource = client.resource({ audience: API })
    const token = await api.sign()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = `access_token=${token}`
    for (const request of [
      new Request(`http://localhost:3000/api?access_token=${token}`),
      new Request('http://localhost:3000/api', { method: 'POST', headers, body }),
    ])
      expect((await client.requireAuth(request, { accept: [resource] })).response?.status).toBe(401)
  })
})

describe('tokens beside sessions', () => {
  test('a session alone passes only where it is accepted', async () => {
    expect((await api.call({ cookie: true })).status).toBe(401)
    const { auth } = await api.call({ cookie: true }, { mixed: true })
    expect(auth).toMatchObject({
      kind: 'session',
      sub: 'dev|alice',
      isClient: false,
      scope: 'openid read:things',
    })
  })

  test('a token decides alone: a session does not rescue a bad one, and never replaces a good one', async () => {
    const bad = await api.call({ ...(await api.bearer({ aud: 'x' })), cookie: true }, { mixed: true })
    expect([bad.status, bad.challenge]).toEqual([401, INVALID])
    const good = await api.call({ ...(await api.bearer({ sub: 'dev|bob' })), cookie: true }, { mixed: true })
    expect(good.auth).toMatchObject({ kind: 'token', sub: 'dev|bob' })
  })

  test.each<[string, Record<string, string>, number]>([
    ['nothing, as no browser does', {}, 200],
    ['a page of the application', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000' }, 200],
    ['a page of the application in an old browser', { origin: 'http://localhost:3000' }, 200],
    ['a page of a sibling', { 'sec-fetch-site': 'same-site', origin: 'http://app.localhost:3000' }, 403],
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
    ['a page of another site in an old browser', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['the address bar', { 'sec-fetch-site': 'none' }, 403],
  ])('a write with a cookie that names %s', async (_, headers, status) => {
    for (const method of ['POST', 'DELETE', 'PATCH'])
      expect((await api.call({ cookie: true, headers, method }, { mixed: true })).status).toBe(status)
    expect((await api.call({ cookie: true, headers }, { mixed: true })).status).toBe(200)
    expect(
      (await api.call({ ...(await api.bearer()), headers, method: 'POST' }, { mixed: true })).status,
    ).toBe(200)
  })

  test('sameOrigin demands the same of a guard without accept', async () => {
    const { client } = api.world
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const send = async (
      options: object,
      headers: Record<string, string>,
      method = 'POST',
    ): Promise<number> => {
      const guarded = client.withApiAuthRequired(() => new Response('in'), options)
      return (await guarded(api.browser.request('/api/orders', { method, headers }))).status
    }
    expect(await send({ sameOrigin: true }, foreign)).toBe(403)
    expect(await send({ sameOrigin: true }, { origin: 'null' })).toBe(403)
    expect(await send({ sameOrigin: true }, foreign, 'GET')).toBe(200)
    // No CORS protects a WebSocket, and cookies reach it from a sibling site.
    const { origin } = new URL(api.browser.request('/').url)
    const socket = { upgrade: 'WebSocket', origin: 'https://blog.example.com' }
    expect(await send({ sameOrigin: true }, socket, 'GET')).toBe(403)
    expect(await send({ sameOrigin: true }, { ...socket, origin }, 'GET')).toBe(200)
    expect(await send({ sameOrigin: true }, {})).toBe(200)
    expect(await send({ sameOrigin: true }, { 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await send({}, foreign)).toBe(200)
    for (const wrong of [{ sameOrigin: 'yes' }, { sameOrigin: 1 }])
      expect(() => client.withApiAuthRequired(() => new Response('in'), wrong as object)).toThrow(
        'sameOrigin',
      )
  })

  test('with SameSite=None a page of another site may not read, either', async () => {
    const appBaseUrl = 'https://app.example.test'
    const { client } = api.world.another({ appBaseUrl, session: { cookie: { sameSite: 'none' } } })
    const guarded = client.withApiAuthRequired(() => new Response('in'), { sameOrigin: true })
    const statusFrom = async (origin: string) =>
      (await guarded(new Request(`${appBaseUrl}/api/orders`, { headers: { origin } }))).status
    expect([await statusFrom('https://evil.example'), await statusFrom(appBaseUrl)]).toEqual([403, 401])
  })

  test('the scope of a session is what was granted for the resource', async () => {
    expect((await api.call({ cookie: true }, { mixed: true, scope: 'read:things' })).status).toBe(200)
    const denied = await api.call({ cookie: true }, { mixed: true, scope: 'write:things' })
    expect([denied.status, denied.error]).toEqual([403, 'insufficient_scope'])
    // Logins request this audience: another one can obtain the scope.
    expect(await openLogin(denied.login ?? {})).toMatchObject({ scope: 'write:things' })
    const resource = { audience: 'https://other.example.test/' }
    const foreignScope = await api.call({ cookie: true }, { mixed: true, scope: 'read:things', resource })
    expect([foreignScope.status, foreignScope.error]).toEqual([403, 'insufficient_scope'])
    expect(foreignScope.login).toBeUndefined()
    const useless = await api.call({ cookie: true }, { mixed: true, scope: 'write:things', resource })
    expect([useless.status, useless.login]).toEqual([403, undefined])
    const { client } = api.world
    const accept = ['session', client.resource(resource), client.resource({ audience: API })] as const
    const request = api.browser.request('/api/orders')
    const { response } = await client.requireAuth(request, { accept, scope: 'write:things' })
    expect(await response?.json()).toMatchObject({ login: expect.any(Object) })
  })

  test('the scope of a session is also that of its further token for the resource', async () => {
    const { browser, client } = api.world.another({
      authorizationParameters: { scope: 'openid offline_access' },
    })
    await api.world.login(browser)
    const headers = new Headers()
    const options = { audience: API, scope: 'read:things', mergeScopes: false }
    await client.getAccessToken(options, browser.request('/'), headers)
    browser.store(new Response(null, { headers }))
    const decide = async (scope: string, audience = API) => {
      const accept = ['session', client.resource({ audience })] as const
      return client.requireAuth(browser.request('/api/orders'), { accept, scope })
    }
    expect((await decide('read:things')).auth).toMatchObject({ kind: 'session', scope: 'read:things' })
    expect((await decide('write:things')).response?.status).toBe(403)
    expect((await decide('read:things', 'https://other.example.test/')).response?.status).toBe(403)
  })

  test('a session that does not meet a requirement gets a login for it, and none that has not helped', async () => {
    const { client } = api.world
    const user = api.world.newBrowser()
    await api.world.login(user)
    const accept = ['session', client.resource({ audience: API })] as const
    const decide = async () => {
      const { response } = await client.requireAuth(user.request('/api/orders'), { accept, acr: 'gold' })
      return { status: response?.status, ...(await response?.json()) }
    }
    const insufficient = await decide()
    expect(insufficient).toMatchObject({ status: 401, error: 'insufficient_user_authentication' })
    const restore = api.world.provider.tamperIdToken((claims) => {
      delete claims['acr']
    })
    await api.world.login(user, `?${new URLSearchParams(insufficient.login)}`)
    restore()
    const exhausted = await decide()
    expect(exhausted).toMatchObject({ status: 401, error: 'insufficient_user_authentication' })
    expect([insufficient.login, exhausted.login]).toEqual([expect.any(Object), undefined])
  })

  test('a token response without scope grants what the application requested (RFC 6749 section 5.1)', async () => {
    const { client, provider } = api.world
    const undo = provider.rewrite('token', ({ scope: _, ...body }) => body)
    const user = api.world.newBrowser()
    await api.world.login(user)
    undo()
    expect((await user.session()).tokenSet).not.toHaveProperty('scope')
    const accept = ['session', client.resource({ audience: API })] as const
    const decide = async (scope: string) => client.requireAuth(user.request('/api/orders'), { accept, scope })
    expect((await decide('read:things')).auth).toMatchObject({ kind: 'session', scope: 'openid read:things' })
    expect((await decide('write:things')).response?.status).toBe(403)
  })

  test('a refresh whose response has no scope grants what was granted before (RFC 6749 section 6)', async () => {
    const { provider } = api.world
    const { browser, client } = api.world.another({
      authorizationParameters: { audience: API, scope: 'openid offline_access read:things write:things' },
    })
    provider.rewrite('token', (body) => ({ ...body, scope: 'openid read:things' }))
    await api.world.login(browser)
    const resource = client.resource({ audience: API })
    const decide = async (scope: string) => {
      const { response } = await client.requireAuth(browser.request('/api/orders'), {
        accept: ['session', resource],
        scope,
      })
      return response?.status ?? 200
    }
    expect([await decide('read:things'), await decide('write:things')]).toEqual([200, 403])
    provider.rewrite('token', ({ scope: _, ...body }) => body)
    const response = new Response()
    const token = await client.getAccessToken(browser.request('/'), response, { refresh: true })
    browser.store(response)
    expect([await decide('read:things'), await decide('write:things')]).toEqual([200, 403])
    expect(token.scope).toBe('openid read:things')
  })

  test('authorize decides about both, and a failure of it rejects', async () => {
    const only = (kind: Auth['kind']): Options => ({ mixed: true, authorize: (auth) => auth.kind === kind })
    expect((await api.call(await api.bearer(), only('token'))).status).toBe(200)
    expect((await api.call(await api.bearer(), only('session'))).status).toBe(403)
    expect((await api.call({ cookie: true }, only('token'))).status).toBe(403)
    const failing = (): boolean => {
      throw new Error('no')
    }
    expect((await api.call(await api.bearer(), { authorize: failing })).status).toBe(500)
  })
})

describe('keys', () => {
  test('a flood of unknown keys loads the key set once per minute, and delays no login', async () => {
    const { provider } = api.world
    await api.call(await api.bearer())
    api.world.clock.now += 120
    const flood = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: `unknown-${index}` } })),
      ),
    )
    for (const { status } of flood) expect([401, 503]).toContain(status)
    expect(provider.requests('jwks').length).toBe(1)
    const undecided = await api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: 'later' } }))
    expect([undecided.status, undecided.error]).toEqual([503, 'token_undecided'])
    expect(undecided.headers.get('retry-after')).toBe('5')
    await provider.rotateKeys()
    const user = api.world.newBrowser()
    expect((await api.world.login(user)).status).toBe(302)
    expect(await user.session()).toBeTruthy()
  })

  test('an unknown key after a fresh load is refused, a rotated one accepted', async () => {
    api.world.clock.now += 120
    await api.world.provider.rotateKeys()
    expect((await api.call(await api.bearer())).status).toBe(200)
    api.world.clock.now += 120
    expect((await api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: 'unknown' } }))).status).toBe(
      401,
    )
  })

  test('keys that cannot be loaded: 503, never invalid_token', async () => {
    api.world.clock.now += 120
    api.world.provider.faults.set('jwks', { kind: 'respond', status: 500, body: '' })
    const outcome = await api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: 'unknown' } }))
    expect([outcome.status, outcome.error]).toEqual([503, 'jwks_error'])
    expect(outcome.challenge).toBeNull()
  })
})

test('refusals are logged once in 60 s for each code, with their number, and no failure of the provider', async () => {
  const { clock, events } = api.world
  clock.now += 120
  await api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: 'first' } }))
  events.length = 0
  clock.now += 61
  for (let at = 0; at < 20; at++) await api.call(await api.bearer({ aud: 'x' }))
  expect(events).toEqual([
    expect.objectContaining({ level: 'info', code: 'REQUEST_FAILED', error: 'INVALID_TOKEN' }),
  ])
  clock.now += 61
  await api.call(await api.bearer({ aud: 'x' }))
  expect(events).toHaveLength(2)
  expect(JSON.stringify(events[1])).toContain('19 more were refused')
  clock.now += 61
  events.length = 0
  for (let at = 0; at < 5; at++)
    await api.call(await api.bearer({}, { header: { typ: 'at+jwt', kid: `unknown-${at}` } }))
  expect(events.filter(({ code }) => code === 'PROVIDER_FAILURE')).toEqual([])
  expect(events.length).toBeLessThanOrEqual(2)
})

test('options that are no plain object have no guard: a Map, a promise, an instance', () => {
  const { client } = api.world
  class Options {}
  for (const options of [new Map([['scope', 'admin']]), Promise.resolve({}), new Options(), new Date()])
    expect(() => client.withApiAuthRequired(() => new Response('in'), options as object)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
})

describe('metadata (RFC 9728)', () => {
  const MCP = 'https://app.example.test/mcp'
  const WELL_KNOWN = '/.well-known/oauth-protected-resource'
  const fetchAt = (client: IdpClient, path: string, init: RequestInit = {}): Promise<Response> =>
    client.middleware(new Request(`http://localhost:3000${path}`, init))

  test('is served at the path of the resource, the same for every request, without cookie', async () => {
    const { browser, client } = api.world.another()
    client.resource({ audience: MCP, scopes: ['mcp:tools'], metadata: true })
    await api.world.login(browser)
    const path = `${WELL_KNOWN}/mcp`
    const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' }
    for (const headers of [{}, evil]) {
      const response = await client.middleware(browser.request(path, { headers }))
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toEqual({
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=300',
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
      })
      expect(await response.json()).toEqual({
        resource: MCP,
        authorization_servers: [api.world.provider.issuer],
        scopes_supported: ['mcp:tools'],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'EdDSA']),
      })
    }
    const head = await fetchAt(client, path, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const preflight = await fetchAt(client, path, { method: 'OPTIONS' })
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': '*',
      }),
    ])
    expect((await fetchAt(client, path, { method: 'POST' })).status).toBe(405)
    for (const other of [WELL_KNOWN, `${WELL_KNOWN}/mcp/x`, `${WELL_KNOWN}/MCP`])
      expect(isContinue(await fetchAt(client, other))).toBe(true)
  })

  test('is named by every challenge, with the base path, never by the request', async () => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/docs')
    const { client } = api.world.another()
    vi.unstubAllEnvs()
    const resource = client.resource({
      audience: 'orders',
      resource: 'https://app.example.test/',
      metadata: true,
    })
    const url = `https://app.example.test/docs${WELL_KNOWN}`
    const accept = ['session', resource] as const
    for (const authorization of ['', 'Bearer x', 'DPoP x', 'Bearer a, b']) {
      const headers = { host: 'evil.example', ...(authorization ? { authorization } : {}) }
      const { response } = await client.requireAuth(
        new Request('http://localhost:3000/docs/api', { headers }),
        { accept },
      )
      expect(response?.headers.get('www-authenticate')).toContain(`resource_metadata="${url}"`)
    }
    expect((await (await fetchAt(client, `/docs${WELL_KNOWN}`)).json()).resource).toBe(
      'https://app.example.test/',
    )
    expect(isContinue(await fetchAt(client, WELL_KNOWN))).toBe(true)
  })

  test('while the provider cannot be reached: an error that nobody stores, and one line per minute', async () => {
    const { client } = api.world.another({ domain: 'http://127.0.0.1:2' })
    client.resource({ audience: MCP, metadata: true })
    api.world.events.length = 0
    for (let at = 0; at < 5; at++) {
      const response = await fetchAt(client, `${WELL_KNOWN}/mcp`)
      expect(response.status).toBe(502)
      expect(response.headers.get('cache-control')).toContain('no-store')
    }
    expect(api.world.events.map(({ code }) => code)).toEqual(['PROVIDER_FAILURE'])
  })
})

test('while the provider cannot be reached, strangers cause one line per minute, and no load for tokens of others', async () => {
  const { client } = api.world.another({ domain: 'http://127.0.0.1:1' })
  const accept = [client.resource({ audience: API })]
  const send = async (claims: Record<string, unknown>): Promise<number | undefined> => {
    const request = new Request('http://localhost:3000/api', { headers: { ...(await headersOf(claims)) } })
    return (await client.requireAuth(request, { accept })).response?.status
  }
  const headersOf = async (claims: Record<string, unknown>) => ({
    authorization: `Bearer ${await api.sign(claims)}`,
  })
  api.world.events.length = 0
  for (let at = 0; at < 5; at++) expect(await send({ aud: 'x' })).toBe(401)
  for (let at = 0; at < 5; at++) expect(await send({})).toBe(503)
  expect(api.world.events.map(({ code }) => code).sort()).toEqual(['PROVIDER_FAILURE', 'REQUEST_FAILED'])
})

describe('wrong set-ups', () => {
  const wrong: readonly [string, unknown][] = [
    ['nothing', undefined],
    ['no audience', {}],
    ['an empty audience', { audience: '' }],
    ['an audience with a quote', { audience: 'a"b' }],
    ['an audience with a line break', { audience: 'a\nb' }],
    ['the client id as audience', { audience: 'dev-app' }],
    ['a resource that is not a string', { audience: API, resource: 7 }],
    ['one origin as text', { audience: API, origins: 'https://a.example' }],
    ['scopes as text', { audience: API, scopes: 'read:things' }],
    ['a scope with a space', { audience: API, scopes: ['read:things write:things'] }],
    ['no scopes', { audience: API, scopes: [] }],
    ['strict as text', { audience: API, strict: 'yes' }],
    ['its own audience as notAudience', { audience: API, notAudience: [API] }],
    ['an unknown option', { audience: API, scope: 'x' }],
    ['metadata without a URL', { audience: 'orders', metadata: true }],
    ['metadata with a query', { audience: API, resource: 'https://app.example.test/?a', metadata: true }],
    ['metadata with a fragment', { audience: API, resource: 'https://app.example.test/#a', metadata: true }],
    ['metadata over http', { audience: API, resource: 'http://app.example.test/', metadata: true }],
    ['metadata as text', { audience: API, metadata: 'yes' }],
  ]
  test.each(wrong)('a resource with %s', (_, options) => {
    expect(() => api.world.client.resource(options as ResourceOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
  })

  test('a guard that accepts nothing, something else, or the resource of another client', () => {
    const { client } = api.world
    const resource = client.resource({ audience: API, scopes: SCOPES })
    const other = api.world.another().client.resource({ audience: API })
    const guards: readonly unknown[] = [
      { accept: undefined },
      { accept: [] },
      { accept: ['session'] },
      { accept: 'session' },
      { accept: resource },
      { accept: [resource, 'sessions'] },
      { accept: [resource, undefined] },
      { accept: [{ audience: API }] },
      { accept: [other] },
      { accept: [resource], scope: 'read:thing' },
      { accept: [resource], sameOrigin: true },
      { accept: [resource], sameOrigin: false },
    ]
    for (const options of guards) {
      expect(() =>
        client.withApiAuthRequired(() => new Response('in'), options as ResourceGuardOptions),
      ).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
    }
    expect(() =>
      client.withPageAuthRequired(() => new Response('in'), { accept: [resource] } as object),
    ).toThrow('accept is not an option')
  })

  test('two resources whose metadata would be at the same path', () => {
    const { client } = api.world.another()
    const options = { audience: 'https://a.example.test/mcp', metadata: true }
    client.resource(options)
    expect(() => client.resource(options)).not.toThrow()
    expect(() => client.resource({ ...options, audience: 'https://b.example.test/mcp' })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
  })

  test('while the configuration is incomplete nothing passes, and the audience is checked at the first request', async () => {
    const { client } = api.world.another({ clientId: undefined })
    const accept = [client.resource({ audience: 'dev-app' })]
    const statusOf = async (claims = {}) => {
      const headers = { authorization: `Bearer ${await api.sign(claims)}` }
      return (await client.requireAuth(api.browser.request('/api', { headers }), { accept })).response?.status
    }
    expect(await statusOf()).toBe(500)
    vi.stubEnv('IDP_CLIENT_ID', 'dev-app')
    expect(await statusOf({ aud: 'dev-app' })).toBe(500)
    vi.unstubAllEnvs()
  })
})
