import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { GetAccessTokenOptions, IdpClientOptions } from '../../src/index.ts'
import { defined } from '../../src/lib/objects.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'
const TTL = 600

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

/** A browser with an access token that has expired. */
async function expired(options: IdpClientOptions = {}) {
  const made = world.another(options)
  await world.login(made.browser)
  pass(TTL + 1)
  world.provider.clearRequests()
  return made
}

async function read(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}

describe('getAccessToken', () => {
  test('[S064,S144,S169,S170] the route returns token and times, is never cacheable and returns no other token', async () => {
    await world.login(world.browser)
    const response = await world.browser.send('/auth/access-token')
    const body = await read(response)
    expect(body).toEqual({
      token: expect.any(String),
      expires_at: world.clock.now + TTL,
      expires_in: TTL,
      scope: expect.stringContaining('openid'),
      token_type: 'Bearer',
    })
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('[S065,S238] the route is not mounted with enableAccessTokenEndpoint: false', async () => {
    const { browser } = world.another({ enableAccessTokenEndpoint: false })
    await world.login(browser)
    expect((await browser.send('/auth/access-token')).headers.get('x-middleware-next')).toBe('1')
  })

  test('[S171] without a session the route responds with 401, MISSING_SESSION', async () => {
    const response = await world.newBrowser().send('/auth/access-token')
    expect(response.status).toBe(401)
    expect(await read(response)).toMatchObject({ error: { code: 'MISSING_SESSION' } })
  })

  test.each([
    ['', 'openid offline_access read:things read:orders'],
    ['&mergeScopes=true', 'openid offline_access read:things read:orders'],
    ['&mergeScopes=false', 'read:orders'],
  ])('the route requests the audience and scope of its query; with %o the scope %o', async (query, sent) => {
    const scope = 'openid offline_access read:things'
    const { browser } = world.another({ authorizationParameters: { audience: API, scope } })
    await world.login(browser)
    world.provider.clearRequests()
    const response = await browser.send(`/auth/access-token?audience=${ORDERS}&scope=read:orders${query}`)
    expect(response.status).toBe(200)
    expect(world.refreshes().map(({ body }) => [body['audience'], body['scope']])).toEqual([[ORDERS, sent]])
  })

  test('calls at the same time with different scopes get different tokens', async () => {
    const scope = 'openid offline_access read:things'
    const { browser, client } = world.another({ authorizationParameters: { audience: API, scope } })
    const narrow = { authorizationParameters: { scope: 'openid offline_access' } }
    const started = await client.startInteractiveLogin(narrow, browser.request('/'))
    browser.store(started)
    await browser.send(await world.authorize(started.headers.get('location') ?? '', { user: 'alice' }))
    pass(TTL + 1)
    world.provider.clearRequests()
    const request = browser.request('/')
    const options = [{ refresh: true }, { refresh: true, scope: 'read:things' }]
    await Promise.allSettled(options.map((each) => client.getAccessToken(request, new Headers(), each)))
    expect(world.refreshes().map(({ body }) => body['scope'])).toEqual([undefined, scope])
  })

  describe('after a token for a part of the scope', () => {
    const scope = 'openid offline_access profile read:orders'

    async function start() {
      const { browser, client } = await expired({ authorizationParameters: { audience: ORDERS, scope } })
      return async (options: GetAccessTokenOptions): Promise<readonly string[]> => {
        const response = new Response()
        const token = await client.getAccessToken(browser.request('/'), response, options)
        browser.store(response)
        return token.scope?.split(' ') ?? []
      }
    }

    test('a call for the whole scope of a further audience gets a token for it', async () => {
      const ask = await start()
      const whole = { audience: API, scope: 'read:things write:things', mergeScopes: false }
      expect(await ask(whole)).toContain('write:things')
      pass(TTL + 1)
      expect(await ask({ ...whole, scope: 'read:things' })).toEqual(['read:things'])
      expect(await ask(whole)).toContain('write:things')
    })

    test('a call without scope gets the whole scope of the login', async () => {
      const ask = await start()
      expect(await ask({ scope: 'read:orders', mergeScopes: false })).toContain('read:orders')
      expect(await ask({})).toContain('profile')
      expect(world.refreshes().map(({ body }) => body['scope']?.split(' ').sort())).toEqual([
        scope.split(' ').sort(),
      ])
    })
  })

  test('a call for a part of the scope requests no name that the provider granted in place of a requested one', async () => {
    const API_SCOPE = `${API}.default`
    const sent: (string | null)[] = []
    const expanding: typeof fetch = async (input, init) => {
      const body = new URLSearchParams(String(init?.body ?? ''))
      if (!body.has('grant_type')) return fetch(input, init)
      if (body.get('grant_type') === 'refresh_token') sent.push(body.get('scope'))
      body.delete('scope')
      const response = await fetch(input, { ...init, body })
      return Response.json({ ...(await response.json()), scope: `openid ${API}read` })
    }
    const scope = `openid offline_access ${API_SCOPE}`
    const { browser, client } = await expired({
      [customFetch]: expanding,
      authorizationParameters: { scope },
    })
    const request = browser.request('/')
    await client.getAccessToken(request, new Headers(), { scope: API_SCOPE })
    await client.getAccessToken(request, new Headers(), {
      scope: 'openid',
      mergeScopes: false,
      refresh: true,
    })
    expect(sent).toEqual([scope, scope])
  })

  describe('without an audience, a token with a further scope', () => {
    /** A provider that grants further scopes at a refresh; `grants` returns the granted scope. */
    function granting(grants: (requested: string) => string): typeof fetch {
      return async (input, init) => {
        const body = new URLSearchParams(String(init?.body ?? ''))
        const requested = body.get('scope')
        if (body.get('grant_type') !== 'refresh_token' || requested === null) return fetch(input, init)
        body.delete('scope')
        const response = await fetch(input, { ...init, body })
        return Response.json({ ...(await response.json()), scope: grants(requested) })
      }
    }

    async function start(grants: (requested: string) => string, scope?: string) {
      const { browser, client } = world.another({
        [customFetch]: granting(grants),
        authorizationParameters: defined({ scope }),
      })
      await world.login(browser)
      return async (options: GetAccessTokenOptions = {}) => {
        const response = new Response()
        const token = await client.getAccessToken(browser.request('/'), response, options)
        browser.store(response)
        return token
      }
    }

    test.each([undefined, 'openid offline_access'])(
      'is kept until it expires, with the configured scope %j',
      async (scope) => {
        const ask = await start((requested) => requested, scope)
        const first = await ask({ scope: 'phone' })
        expect(first.scope).toContain('phone')
        expect(await ask({ scope: 'phone' })).toEqual(first)
        expect(world.refreshes()).toHaveLength(1)
      },
    )

    test('is requested again after a refresh without scope, which brings the scope of the login only', async () => {
      const ask = await start((requested) => requested)
      await ask({ scope: 'phone' })
      pass(TTL + 1)
      expect((await ask()).scope).not.toContain('phone')
      expect((await ask({ scope: 'phone' })).scope).toContain('phone')
      expect(world.refreshes()).toHaveLength(3)
    })

    test.each([undefined, 'openid offline_access'])(
      'alone, for another API, does not replace that of the login, with the configured scope %j',
      async (scope) => {
        const ask = await start(() => 'other-api', scope)
        const before = await ask()
        expect((await ask({ scope: 'other-api' })).scope).toBe('other-api')
        expect(await ask()).toEqual(before)
      },
    )
  })

  test('[S213,S216] an expired token is refreshed and stored, and the user has the claims of the new ID token', async () => {
    const { browser, client } = await expired()
    const before = await client.getSession(browser.request('/'))
    world.provider.tamperIdToken((claims) => {
      claims['name'] = 'Alice Renamed'
    })
    const token = await read(await browser.send('/auth/access-token'))
    const after = await client.getSession(browser.request('/'))
    expect(token['token']).toBe(after?.tokenSet.accessToken)
    expect(after?.tokenSet.accessToken).not.toBe(before?.tokenSet.accessToken)
    expect(after?.tokenSet.refreshToken).not.toBe(before?.tokenSet.refreshToken)
    expect(after?.user.name).toBe('Alice Renamed')
    expect(after?.internal).toEqual(before?.internal)
    await browser.send('/auth/access-token')
    expect(world.refreshes()).toHaveLength(1)
  })

  test('[S214] tokenRefreshBuffer refreshes early; after a failure the valid token is returned', async () => {
    const { browser } = world.another({ tokenRefreshBuffer: 60 })
    await world.login(browser)
    const first = (await read(await browser.send('/auth/access-token')))['token']
    pass(TTL - 30)
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    expect((await read(await browser.send('/auth/access-token')))['token']).toBe(first)
    world.provider.faults.clear()
    expect((await read(await browser.send('/auth/access-token')))['token']).not.toBe(first)
  })

  test('[S166] refresh: true refreshes a valid token', async () => {
    await world.login(world.browser)
    const request = world.browser.request('/')
    const first = await world.client.getAccessToken(request, new Headers())
    const second = await world.client.getAccessToken(request, new Headers(), { refresh: true })
    expect(second.token).not.toBe(first.token)
    expect((await world.client.getAccessToken(request, new Headers())).token).toBe(second.token)
  })
})

describe('one refresh for any number of callers', () => {
  test('50 parallel requests with a single-use refresh token: 1 refresh, 50 equal results, 0 errors', async () => {
    const { browser, client } = await expired()
    const requests = Array.from({ length: 50 }, () => browser.request('/auth/access-token'))
    const responses = await Promise.all(requests.map((request) => client.middleware(request)))
    const tokens = await Promise.all(responses.map(async (response) => (await read(response))['token']))
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(tokens).size).toBe(1)
    expect(world.refreshes()).toHaveLength(1)
  })

  test.each([1, 4, 30])(
    'a request that arrives %s s late with the old cookie gets the new tokens',
    async (seconds) => {
      const { browser, client } = await expired()
      const late = browser.request('/auth/access-token')
      const first = await read(await browser.send('/auth/access-token'))
      pass(seconds)
      const response = await client.middleware(late)
      expect((await read(response))['token']).toBe(first['token'])
      browser.store(response)
      expect((await client.getSession(browser.request('/')))?.tokenSet.accessToken).toBe(first['token'])
      expect(world.refreshes()).toHaveLength(1)
    },
  )

  test('two audiences at once need two redemptions, one after the other, without reuse', async () => {
    const { browser, client } = await expired({ authorizationParameters: { scope: 'openid offline_access' } })
    const ask = (audience: string) =>
      client.middleware(browser.request(`/auth/access-token?audience=${encodeURIComponent(audience)}`))
    const responses = await Promise.all([ask(API), ask(ORDERS), ask(API), ask(ORDERS)])
    const bodies = await Promise.all(responses.map(read))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(bodies[0]?.['token']).toBe(bodies[2]?.['token'])
    expect(bodies[1]?.['token']).toBe(bodies[3]?.['token'])
    expect(bodies[0]?.['token']).not.toBe(bodies[1]?.['token'])
    expect(world.refreshes()).toHaveLength(2)
    const spent = world.refreshes().map(({ body }) => body['refresh_token'])
    expect(new Set(spent).size).toBe(2)
  })

  test('50 users with the same audience and scope get their own tokens from a slow provider', async () => {
    const browsers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const browser = world.newBrowser()
        const user = ['alice', 'bob', 'mallory'][index % 3] ?? ''
        await world.login(browser, '', { user })
        return { browser, user }
      }),
    )
    pass(TTL + 1)
    world.provider.clearRequests()
    world.provider.faults.set('token', { kind: 'delay', ms: 50 })
    const results = await Promise.all(
      browsers.map(async ({ browser, user }) => {
        const path = `/auth/access-token?audience=${encodeURIComponent(API)}`
        const { token } = await read(await browser.send(path))
        const claims = JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString())
        return { user, sub: claims.sub, token }
      }),
    )
    for (const { sub, user } of results) expect(sub).toBe(`dev|${user}`)
    expect(new Set(results.map(({ token }) => token)).size).toBe(50)
    expect(world.refreshes()).toHaveLength(50)
  })
})

describe('responses to a refresh', () => {
  const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    world.provider.faults.set('token', {
      kind: 'respond',
      status,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })

  test('invalid_grant is final: the refresh token is removed, the session stays, no further request is sent', async () => {
    const { browser, client } = await expired()
    respond(400, { error: 'invalid_grant' })
    const response = await browser.send('/auth/access-token')
    expect(response.status).toBe(401)
    expect(await read(response)).toMatchObject({ error: { code: 'FAILED_TO_REFRESH_TOKEN' } })
    world.provider.faults.clear()
    const session = await client.getSession(browser.request('/'))
    expect(session?.user.sub).toBe('dev|alice')
    world.provider.clearRequests()
    for (let count = 0; count < 3; count++) {
      expect(await read(await browser.send('/auth/access-token'))).toMatchObject({
        error: { code: 'MISSING_REFRESH_TOKEN' },
      })
    }
    expect(world.provider.count('token')).toBe(0)
  })

  test.each([
    [401, 'invalid_client', 401],
    [400, 'invalid_request', 401],
    [400, 'unauthorized_client', 401],
    [401, 'unauthorized_client', 401],
    [400, 'unsupported_grant_type', 401],
    [400, 'invalid_scope', 401],
    [500, 'server_error', 502],
    [503, 'temporarily_unavailable', 503],
    [429, 'slow_down', 503],
    [403, 'login_required', 401],
    [403, 'access_denied', 401],
    [418, 'unknown_custom_error', 401],
  ])(
    '%s %s: %s, session and refresh token stay, one call per request, the next refresh works',
    async (status, error, expected) => {
      const { browser } = await expired()
      const cookie = browser.cookies.get('__session')?.value
      respond(status, { error, error_description: 'detail' }, { 'retry-after': '1' })
      const response = await browser.send('/auth/access-token')
      expect(response.status).toBe(expected)
      expect(await read(response)).toMatchObject({ error: { code: 'FAILED_TO_REFRESH_TOKEN' } })
      expect(world.refreshes()).toHaveLength(1)
      expect(browser.cookies.get('__session')?.value).toBe(cookie)
      world.provider.faults.clear()
      expect((await browser.send('/auth/access-token')).status).toBe(200)
    },
  )

  test.each([
    ['HTML', { kind: 'respond', body: '<h1>portal</h1>', headers: { 'content-type': 'text/html' } }],
    ['half a JSON', { kind: 'truncate' }],
    ['nothing', { kind: 'empty' }],
    ['too much', { kind: 'huge' }],
  ] as const)('%s instead of tokens: 502, never 401, and the session stays', async (_, fault) => {
    const { browser, client } = await expired()
    world.provider.faults.set('token', fault)
    expect((await browser.send('/auth/access-token')).status).toBe(502)
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
  })

  test('50 parallel requests share one failure', async () => {
    const { browser, client } = await expired()
    respond(503, { error: 'temporarily_unavailable' })
    const requests = Array.from({ length: 50 }, () => browser.request('/auth/access-token'))
    const responses = await Promise.all(requests.map((request) => client.middleware(request)))
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(503))
    expect(world.refreshes()).toHaveLength(1)
  })

  test('the response is lost after the provider rotated: an error, the old token is sent once more and then removed', async () => {
    const { browser, client } = await expired()
    world.provider.faults.set('token', { kind: 'reset', at: 'commit' })
    expect((await browser.send('/auth/access-token')).status).toBe(502)
    world.provider.faults.clear()
    expect((await browser.send('/auth/access-token')).status).toBe(401)
    expect(await read(await browser.send('/auth/access-token'))).toMatchObject({
      error: { code: 'MISSING_REFRESH_TOKEN' },
    })
    expect(world.refreshes()).toHaveLength(2)
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
  })

  test('an ID token for another user rejects the whole response, and the user never changes', async () => {
    const { browser, client } = await expired()
    const remove = world.provider.tamperIdToken((claims) => {
      claims.sub = 'dev|mallory'
    })
    const response = await browser.send('/auth/access-token')
    remove()
    expect(await read(response)).toMatchObject({ error: { code: 'FAILED_TO_REFRESH_TOKEN' } })
    expect((await client.getSession(browser.request('/')))?.user.sub).toBe('dev|alice')
  })

  test('without a new refresh token or ID token the old ones stay', async () => {
    const { browser, client } = await expired()
    const before = await client.getSession(browser.request('/'))
    world.provider.rewrite('token', ({ id_token: _id, refresh_token: _rt, ...rest }) => rest, { times: 1 })
    expect((await browser.send('/auth/access-token')).status).toBe(200)
    const after = await client.getSession(browser.request('/'))
    expect(after?.tokenSet.refreshToken).toBe(before?.tokenSet.refreshToken)
    expect(after?.tokenSet.idToken).toBe(before?.tokenSet.idToken)
    expect(after?.user).toEqual(before?.user)
  })

  test('[S217] an audience that the provider rejects is a typed error, and the session stays', async () => {
    await world.login(world.browser)
    const response = await world.browser.send('/auth/access-token?audience=https%3A%2F%2Funknown.example%2F')
    expect(response.status).toBe(401)
    expect((await world.browser.send('/auth/access-token')).status).toBe(200)
    expect((await world.browser.send(`/auth/access-token?audience=${encodeURIComponent(API)}`)).status).toBe(
      200,
    )
  })
})

describe('where cookies cannot be written', () => {
  test('[S215] the fresh token is returned, kept, and written by the next request that can', async () => {
    const { browser, client } = await expired()
    const readOnly = browser.request('/')
    const { token } = await client.getAccessToken(readOnly)
    expect(world.refreshes()).toHaveLength(1)
    expect((await client.getAccessToken(browser.request('/'))).token).toBe(token)
    pass(300)
    const response = await browser.send('/page')
    expect(response.headers.getSetCookie()).toHaveLength(1)
    expect((await client.getSession(browser.request('/')))?.tokenSet.accessToken).toBe(token)
    expect(world.refreshes()).toHaveLength(1)
    pass(100)
    expect((await browser.send('/page')).headers.getSetCookie()).toEqual([])
  })
})

describe('hooks and updates during a refresh', () => {
  test.each([
    ['accessTokens', {}],
    ['accessTokens', [null]],
    ['connectionTokenSets', 'abc'],
    ['tokenSet', { accessToken: 'a', expiresAt: 'soon' }],
  ])('a hook that returns %s as %j loses no token', async (name, value) => {
    let isOdd = false
    const { browser, client } = await expired({
      beforeSessionSaved: (session) => (isOdd ? { ...session, [name]: value } : session),
    })
    const before = (await client.getSession(browser.request('/')))?.tokenSet.refreshToken
    isOdd = true
    const response = await browser.send('/auth/access-token')
    expect(response.status).toBe(200)
    const after = (await client.getSession(browser.request('/')))?.tokenSet.refreshToken
    expect(after).toEqual(expect.any(String))
    expect(after).not.toBe(before)
  })

  test('beforeSessionSaved runs once per refresh, with all claims and the ID token; its failure loses no token', async () => {
    const calls: [Record<string, unknown>, string | undefined][] = []
    let fail = false
    const { browser, client } = await expired({
      beforeSessionSaved: (session, idToken) => {
        calls.push([{ ...session.user }, idToken])
        if (fail) throw new Error('hook')
        return { ...session, user: { sub: session.user.sub, seen: calls.length } }
      },
    })
    calls.length = 0
    const requests = Array.from({ length: 10 }, () => browser.request('/auth/access-token'))
    for (const response of await Promise.all(requests.map((request) => client.middleware(request))))
      browser.store(response)
    expect(calls).toHaveLength(1)
    expect(calls[0]?.[0]).toMatchObject({ iss: world.provider.issuer, name: 'Alice Anderson' })
    expect(calls[0]?.[1]).toEqual(expect.any(String))
    expect((await client.getSession(browser.request('/')))?.user).toEqual({ sub: 'dev|alice', seen: 1 })
    pass(TTL + 1)
    fail = true
    expect((await browser.send('/auth/access-token')).status).toBe(200)
    expect((await client.getSession(browser.request('/')))?.user).toEqual({ sub: 'dev|alice', seen: 1 })
  })

  test('an update of a session that another request has refreshed since it was read keeps user and tokens of the refresh', async () => {
    const { browser, client } = await expired()
    const slow = browser.request('/page')
    const read = (await client.getSession(slow)) ?? expect.fail('there is a session')
    world.provider.tamperIdToken((claims) => {
      claims['name'] = 'Alice Renamed'
    })
    await browser.send('/auth/access-token')
    const refreshed = await client.getSession(browser.request('/'))
    const response = new Response()
    await client.updateSession(slow, response, { ...read, colour: 'teal' })
    browser.store(response)
    expect(await client.getSession(browser.request('/'))).toEqual({ ...refreshed, colour: 'teal' })
  })

  test('an update after a refresh in the same request keeps the new tokens', async () => {
    const { browser, client } = await expired()
    const response = await client.middleware(browser.request('/page'), async () => {
      const session = await client.getSession()
      if (!session) return new Response(null, { status: 500 })
      const { token } = await client.getAccessToken()
      await client.updateSession({ ...session, colour: 'teal' })
      return Response.json(token)
    })
    browser.store(response)
    const saved = await client.getSession(browser.request('/'))
    expect(saved?.tokenSet.accessToken).toBe(await response.json())
    expect(saved?.['colour']).toBe('teal')
    pass(TTL + 1)
    expect((await browser.send('/auth/access-token')).status).toBe(200)
  })
})
