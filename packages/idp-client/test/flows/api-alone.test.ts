import type { JWTPayload } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { customClock, IdpClient, isContinue } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { PATIENT } from '../support/timeouts.ts'

/** An application with `sessions: false`: an API for access tokens alone. */

const API = 'https://api.example.test/'
const CLIENT_ID = 'web-app'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(() => {
  world.events.length = 0
})
afterEach(() => vi.unstubAllEnvs())
afterAll(() => world.provider.stop())

function newClient(options: IdpClientOptions = {}): IdpClient {
  return new IdpClient({
    domain: world.provider.issuer,
    sessions: false,
    allowInsecureRequests: true,
    httpTimeout: PATIENT,
    logger: (event) => world.events.push(event),
    [customClock]: () => world.clock.now,
    ...options,
  })
}

function sign(changes: JWTPayload = {}): Promise<string> {
  const { clock, provider } = world
  const claims = {
    iss: provider.issuer,
    aud: API,
    sub: 'dev|alice',
    scope: 'read:things',
    iat: clock.now,
    exp: clock.now + 300,
    ...changes,
  }
  return provider.sign(claims)
}

async function send(token?: string): Promise<Request> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Request(`${APP}/api/orders`, { headers })
}

/** A guard of this client for the API. */
function guardOf(client: IdpClient, resource: object = {}): (request: Request) => Promise<Response> {
  const api = client.resource({ audience: API, ...resource })
  return async (request) =>
    client.withApiAuthRequired((_request, { auth }) => Response.json({ sub: auth.sub }), { accept: [api] })(
      request,
    )
}

describe('access tokens', () => {
  test('domain and audience suffice', async () => {
    const guard = guardOf(newClient())
    const response = await guard(await send(await sign()))
    expect([response.status, await response.json()]).toEqual([200, { sub: 'dev|alice' }])
    expect(world.events).toEqual([])
  })

  test('others are challenged, also with a cookie of a session', async () => {
    const guard = guardOf(newClient())
    const { status, headers } = await guard(await send())
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="[^"]+", DPoP /),
    ])
    const { browser } = world
    await world.login(browser)
    expect((await guard(browser.request('/api/orders'))).status).toBe(401)
  })

  test('ID tokens of the clients in notAudience are refused, and all with claims of ID tokens', async () => {
    const guard = guardOf(newClient(), { notAudience: [CLIENT_ID] })
    expect((await guard(await send(await sign({ aud: [API, 'other'] })))).status).toBe(200)
    for (const claims of [{ aud: [API, CLIENT_ID] }, { aud: 'other' }, { nonce: 'n' }, { scope: undefined }])
      expect([claims, (await guard(await send(await sign(claims)))).status]).toEqual([claims, 401])
  })

  test('the audience may be the id of the client that a variable names', async () => {
    vi.stubEnv('IDP_CLIENT_ID', API)
    expect((await guardOf(newClient())(await send(await sign()))).status).toBe(200)
  })

  test('the domain may come from a variable that is set later', async () => {
    const client = newClient({ domain: undefined })
    const message = /^(?!.*(?:clientId|secret)).*every access token is refused/is
    expect(world.events).toMatchObject([{ code: 'CONFIGURATION', message: expect.stringMatching(message) }])
    const guard = guardOf(client)
    const token = await sign()
    expect((await guard(await send(token))).status).toBe(500)
    vi.stubEnv('IDP_DOMAIN', world.provider.issuer)
    expect((await guard(await send(token))).status).toBe(200)
  })
})

describe('routes', () => {
  const paths = [
    'login',
    'callback?code=1&state=2',
    'logout',
    'profile',
    'access-token',
    'mfa/authenticators',
  ]

  test.each(paths)('/auth/%s reaches the application, which sets no cookie', async (path) => {
    const client = newClient()
    const { browser } = world
    await world.login(browser)
    const request = browser.request(`/auth/${path}`)
    expect(isContinue(await client.middleware(request))).toBe(true)
    const response = await client.middleware(request, () => new Response('mine'))
    expect([await response.text(), response.headers.getSetCookie()]).toEqual(['mine', []])
  })

  test('the middleware serves the metadata of an API', async () => {
    const client = newClient()
    const audience = 'https://api.example.test/orders'
    client.resource({ audience, metadata: true })
    const path = '/.well-known/oauth-protected-resource/orders'
    const response = await client.middleware(new Request(APP + path))
    expect(await response.json()).toMatchObject({
      resource: audience,
      authorization_servers: [world.provider.issuer],
    })
    const incomplete = newClient({ domain: '' })
    incomplete.resource({ audience, metadata: true })
    const failed = await incomplete.middleware(new Request(APP + path))
    expect([failed.status, await failed.json()]).toMatchObject([
      500,
      { error: { code: 'INVALID_CONFIGURATION' } },
    ])
  })
})

const refusal = (detail: RegExp): object =>
  expect.objectContaining({ code: 'INVALID_CONFIGURATION', message: expect.stringMatching(detail) })

describe('what needs a session or a client', () => {
  const request = new Request(APP)
  const operations: Readonly<Record<string, (client: IdpClient) => unknown>> = {
    getSession: (client) => client.getSession(request),
    updateSession: (client) => client.updateSession({ user: { sub: 'x' } } as never, request, new Response()),
    startInteractiveLogin: (client) => client.startInteractiveLogin({}, request),
    getAccessToken: (client) => client.getAccessToken(request),
    getAccessTokenForConnection: (client) =>
      client.getAccessTokenForConnection({ connection: 'google' }, request),
    connectAccount: (client) => client.connectAccount({ connection: 'google' }, request),
    listConnectedAccounts: (client) => client.listConnectedAccounts(request),
    deleteConnectedAccount: (client) => client.deleteConnectedAccount({ id: 'one' }, request, new Response()),
    customTokenExchange: (client) =>
      client.customTokenExchange({ subjectToken: 'x', subjectTokenType: 'urn:x:token' }),
    getTokenByBackchannelAuth: (client) =>
      client.getTokenByBackchannelAuth({ bindingMessage: 'x', loginHint: { sub: 'x' } }),
    getUserInfo: (client) => client.getUserInfo(request),
    revokeRefreshToken: (client) => client.revokeRefreshToken(request),
    createFetcher: (client) => client.createFetcher({}, request),
    'sessions.listBySubject': (client) => client.sessions.listBySubject('x'),
    'mfa.getAuthenticators': (client) => client.mfa.getAuthenticators({ mfaToken: 'x' }, request),
  }

  test.each(Object.keys(operations))('%s throws', async (name) => {
    await expect(operations[name]?.(newClient())).rejects.toEqual(refusal(/sessions: false/))
  })

  const guards: Readonly<Record<string, (client: IdpClient) => unknown>> = {
    'a page guard': (client) => client.withPageAuthRequired(() => new Response()),
    'an API guard without accept': (client) => client.withApiAuthRequired(() => new Response()),
    "an API guard with 'session' in accept": (client) =>
      client.withApiAuthRequired(() => new Response(), {
        accept: ['session', client.resource({ audience: API })],
      }),
  }

  test.each(Object.keys(guards))('%s is not created', (name) => {
    expect(() => guards[name]?.(newClient())).toThrow(refusal(/^.*withP?A?.*sessions: false/s))
  })

  test.each<[string, object]>([
    ['introspection', { introspection: true }],
    ['introspection', { introspection: 'always' }],
    ['dpop.nonce', { dpop: { nonce: true } }],
  ])('a resource with %s is not created', (name, options) => {
    const detail = new RegExp(`${name} needs .*sessions: false`)
    expect(() => newClient().resource({ audience: API, ...options })).toThrow(refusal(detail))
  })

  test('a token cannot be exchanged', async () => {
    const client = newClient()
    const accept = [client.resource({ audience: API })]
    const { auth } = await client.requireAuth(await send(await sign()), { accept })
    await expect(auth?.kind === 'token' && auth.exchange({ audience: 'other' })).rejects.toEqual(
      refusal(/sessions: false/),
    )
  })

  test('neither are guards that a handler calls', async () => {
    await expect(newClient().requireLogin(request)).rejects.toEqual(
      refusal(/requireLogin: .*sessions: false/),
    )
    await expect(newClient().requireAuth(request)).rejects.toEqual(
      refusal(/requireAuth: .*sessions: false.*accept/),
    )
  })
})

describe('options', () => {
  const wrong: readonly [string, IdpClientOptions][] = [
    ['clientId', { clientId: CLIENT_ID }],
    ['clientSecret', { clientSecret: 'x' }],
    ['secret', { secret: '0123456789abcdef0123456789abcdef' }],
    ['session', { session: { rolling: false } }],
    ['transactionCookie', { transactionCookie: {} }],
    ['routes', { routes: { login: '/in' } }],
    ['enableAccessTokenEndpoint', { enableAccessTokenEndpoint: false }],
    ['beforeSessionSaved', { beforeSessionSaved: (session) => session }],
    ['onCallback', { onCallback: () => undefined }],
    ['authorizationParameters', { authorizationParameters: { scope: 'openid' } }],
    ['useDPoP', { useDPoP: true }],
  ]
  test.each(wrong)('%s is refused', (name, options) => {
    expect(() => newClient(options)).toThrow(
      refusal(new RegExp(`${name} has no effect with sessions: false`)),
    )
  })

  test('the message for clientId names notAudience', () => {
    expect(() => newClient({ clientId: CLIENT_ID })).toThrow(refusal(/notAudience/))
  })

  test('those that are undefined, and variables of sessions, are ignored', () => {
    for (const name of [
      'IDP_SECRET',
      'IDP_COOKIE_SECURE',
      'IDP_MFA_TOKEN_TTL',
      'FRAMEWORK_PUBLIC_LOGIN_ROUTE',
    ])
      vi.stubEnv(name, 'changeme')
    newClient({ secret: undefined, session: undefined })
    expect(world.events).toEqual([])
  })

  test('sessions must be a boolean, and no other option implies it', () => {
    expect(() => newClient({ sessions: 'no' as never })).toThrow(refusal(/sessions must be true or false/))
    newClient({ sessions: undefined })
    expect(world.events).toMatchObject([
      { code: 'CONFIGURATION', message: expect.stringMatching(/clientId is missing.*secret is missing/s) },
    ])
  })
})

test('the metadata of an API on this machine are only served outside production', () => {
  const create = () =>
    newClient({ domain: 'idp.example', allowInsecureRequests: false }).resource({
      audience: 'http://localhost:3000/mcp',
      metadata: true,
    })
  expect(create).not.toThrow()
  vi.stubEnv('NODE_ENV', 'production')
  expect(create).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
})
