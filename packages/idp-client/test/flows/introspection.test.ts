import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { ResourceOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

/** Opaque access tokens, which the provider introspects (RFC 7662), at an API of the application. */

const API = 'https://api.example.test/'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(() => {
  world.events.length = 0
  world.provider.clearRequests()
})
afterEach(() => world.provider.faults.clear())
afterAll(() => world.provider.stop())

type Options = Partial<ResourceOptions>

async function call(token: string, options: Options = {}, client = world.client) {
  const accept = [client.resource({ audience: API, introspection: true, ...options })]
  const headers = { authorization: `Bearer ${token}` }
  const request = new Request('http://localhost:3000/api', { headers })
  const { auth, response } = await client.requireAuth(request, { accept })
  return { auth, status: response?.status ?? 200, headers: response?.headers }
}

let tokens = 0
/** An opaque token that was not used before. */
const newToken = (): string => `opaque-token-${++tokens}`

const introspections = () => world.provider.requests('introspection')

/** Lets the provider respond in this way about every token. */
function respond(body: unknown, status = 200): void {
  const headers = { 'content-type': 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  world.provider.faults.set('introspection', { kind: 'respond', status, body: text, headers })
}

const active = (changes: Readonly<Record<string, unknown>> = {}) => ({
  active: true,
  sub: 'dev|alice',
  client_id: 'mobile-app',
  scope: 'read:things',
  aud: API,
  ...changes,
})

async function opaqueToken(): Promise<{ accessToken: string; refreshToken: string }> {
  const browser = world.newBrowser()
  await world.login(browser)
  const { accessToken, refreshToken = '' } = (await browser.session()).tokenSet
  expect(accessToken.split('.')).toHaveLength(1)
  return { accessToken, refreshToken }
}

describe('an opaque token of the provider', () => {
  test('passes while it is active', async () => {
    const { accessToken } = await opaqueToken()
    const optional: Options = { introspection: { audience: 'optional' } }
    const { auth, status } = await call(accessToken, optional)
    expect(status).toBe(200)
    expect(auth).toMatchObject({
      kind: 'token',
      sub: 'dev|alice',
      clientId: world.provider.clientId,
      isClient: false,
      scope: expect.stringContaining('openid'),
      token: accessToken,
    })
    const [{ body } = { body: {} }] = introspections()
    expect(body).toMatchObject({ token: accessToken, token_type_hint: 'access_token' })
  })

  test('without aud is a caller of tools of the MCP SDK', async () => {
    const { accessToken } = await opaqueToken()
    const optional: Options = { introspection: { audience: 'optional' } }
    const { auth = expect.fail('the token is active') } = await call(accessToken, optional)
    const { clientId } = world.provider
    const info = world.client.resource({ audience: API, ...optional }).authInfo(auth)
    expect(info).toMatchObject({ token: accessToken, clientId, extra: { sub: 'dev|alice' } })
  })

  test('is refused without the option, with no request, and without aud', async () => {
    const { accessToken } = await opaqueToken()
    expect((await call(accessToken, { introspection: false })).status).toBe(401)
    expect(introspections()).toEqual([])
    expect((await call(accessToken)).status).toBe(401)
  })

  test('for an API passes there, and a refresh token never', async () => {
    const audience = 'https://opaque.example.test/'
    world.provider.addApi({ audience, scopes: ['read:things'], tokenFormat: 'opaque' })
    const { browser } = world.another({
      authorizationParameters: { audience, scope: 'openid offline_access read:things' },
    })
    await world.login(browser)
    const { tokenSet } = await browser.session()
    const { auth } = await call(tokenSet.accessToken, { audience })
    expect(auth).toMatchObject({ sub: 'dev|alice', scope: expect.stringContaining('read:things') })
    expect((await call(tokenSet.accessToken)).status).toBe(401)
    for (const introspection of [true, { audience: 'optional' } as const])
      expect((await call(tokenSet.refreshToken ?? '', { audience, introspection })).status).toBe(401)
  })

  test('beside an API that takes only JWTs passes for its own API alone', async () => {
    const { client } = world
    const other = 'https://orders.example.test/'
    const accept = [
      client.resource({ audience: other }),
      client.resource({ audience: API, introspection: true }),
    ]
    const statusFor = async (aud: string) => {
      respond(active({ aud }))
      const headers = { authorization: `Bearer ${newToken()}` }
      const request = new Request('http://localhost:3000/api', { headers })
      return (await client.requireAuth(request, { accept })).response?.status
    }
    expect([await statusFor(API), await statusFor(other)]).toEqual([undefined, 401])
  })

  test('may be JSON in base64url', async () => {
    respond(active())
    expect((await call(Buffer.from(`{"id":${++tokens}}`).toString('base64url'))).status).toBe(200)
  })

  test('that the provider does not know is refused, and asked about once in 5 s', async () => {
    const token = newToken()
    for (const seconds of [0, 4, 1]) {
      world.clock.now += seconds
      expect((await call(token)).status).toBe(401)
    }
    expect(introspections()).toHaveLength(2)
  })
})

describe('the response', () => {
  test.each<[string, unknown]>([
    ['false', active({ active: false })],
    ['another audience', active({ aud: 'https://other.example/' })],
    ['no audience', active({ aud: undefined })],
    ['the client id as a further audience', 'own client'],
    ['another issuer', active({ iss: 'https://evil.example/' })],
    ['a refresh token of Keycloak', active({ typ: 'Refresh' })],
    ['an offline token', active({ typ: 'Offline' })],
    ['an ID token', active({ typ: 'ID' })],
    ['another token_type', active({ token_type: 'refresh_token' })],
    ['a token_type of another type', active({ token_type: ['Bearer'] })],
    ['an end that is past', active({ exp: 1 })],
    ['an end of another type', active({ exp: 'tomorrow' })],
    ['a begin of tomorrow', active({ nbf: 9_999_999_999 })],
    ['token_use of a refresh token', active({ token_type: 'Bearer', token_use: 'refresh_token' })],
    ['token_use of an ID token', active({ token_type: 'Bearer', token_use: 'id' })],
    ['the nonce of an ID token', active({ token_type: 'Bearer', nonce: 'n' })],
    ['the at_hash of an ID token', active({ token_type: 'Bearer', at_hash: 'h' })],
    ['token_type DPoP without a key', active({ token_type: 'DPoP' })],
    ['typ DPoP without a key', active({ typ: 'DPoP' })],
    [
      'token_type DPoP and a certificate',
      active({ token_type: 'DPoP', cnf: { 'x5t#S256': 'a'.repeat(43) } }),
    ],
    ['neither aud nor token_type', active({ aud: undefined })],
    ['no user', active({ sub: undefined })],
    ['a binding that is unknown', active({ cnf: { kid: 'x' } })],
    ['a binding to a key', active({ cnf: { jkt: 'a'.repeat(43) } })],
  ])('with %s refuses the token', async (_, body) => {
    respond(body === 'own client' ? active({ aud: [API, world.provider.clientId] }) : body)
    expect(await call(newToken())).toMatchObject({ status: 401, auth: undefined })
  })

  test.each<[string, Record<string, unknown>]>([
    ['a list of audiences', { aud: ['https://other.example/', API] }],
    ['a token_type', { token_type: 'bearer' }],
    ['typ of Keycloak', { typ: 'Bearer' }],
  ])('with %s lets the token pass', async (_, changes) => {
    respond(active(changes))
    expect((await call(newToken())).status).toBe(200)
  })

  test('with our issuer lets the token pass, and one of a client is told from that of a user', async () => {
    respond(active({ iss: world.provider.issuer, sub: 'service', client_id: 'service' }))
    expect((await call(newToken())).auth).toMatchObject({ isClient: true, clientId: 'service' })
  })

  test('about an active token is used for 60 s, never longer than the token lives', async () => {
    respond(active({ exp: world.clock.now + 3600 }))
    const token = newToken()
    for (const seconds of [0, 59, 1]) {
      world.clock.now += seconds
      expect((await call(token)).status).toBe(200)
    }
    expect(introspections()).toHaveLength(2)
    const short = newToken()
    respond(active({ exp: world.clock.now + 10 }))
    expect((await call(short)).status).toBe(200)
    // The tolerance of clocks is smaller.
    world.clock.now += 300
    expect((await call(short)).status).toBe(401)
    expect(introspections()).toHaveLength(4)
  })

  test('is not shared with another client, another secret or another audience', async () => {
    respond(active({ aud: [API, 'https://orders.example.test/'] }))
    const token = newToken()
    await call(token)
    const fetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request)
    const clients = [
      { clientId: 'other' },
      { clientSecret: 'another-secret-of-the-client' },
      { [customFetch]: fetch },
    ]
    for (const options of clients) await call(token, {}, world.another(options).client)
    await call(token, { audience: 'https://orders.example.test/' })
    expect(introspections()).toHaveLength(5)
  })

  test('about a token that was revoked replaces the former one', async () => {
    respond(active())
    const token = newToken()
    expect((await call(token)).status).toBe(200)
    world.clock.now += 60
    respond({ active: false })
    expect((await call(token)).status).toBe(401)
    world.clock.now += 4
    expect((await call(token)).status).toBe(401)
    expect(introspections()).toHaveLength(2)
    // The former response would be in its time again.
    world.clock.now -= 30
    expect((await call(token)).status).toBe(401)
    world.clock.now += 26
  })

  test('is not used again after the clock was set back', async () => {
    respond(active())
    const token = newToken()
    await call(token)
    world.clock.now -= 3600
    await call(token)
    world.clock.now += 3600
    expect(introspections()).toHaveLength(2)
  })

  test('belongs to its request: what a handler changes in it changes nothing for the next one', async () => {
    respond(active({ roles: ['reader'] }))
    const token = newToken()
    const rolesOf = async () => (await call(token)).auth?.claims['roles']
    const roles = await rolesOf()
    expect(Array.isArray(roles) && roles.push('administrator')).toBe(2)
    expect(await rolesOf()).toEqual(['reader'])
  })
})

describe('a provider that does not tell', () => {
  test.each<[string, unknown, number]>([
    ['an error page', '<html>', 500],
    ['no JSON', 'active', 200],
    ['a list', '[true]', 200],
    ['active of another type', { active: 'true' }, 200],
    ['no active', {}, 200],
    ['an error', { error: 'invalid_client' }, 401],
  ])('by %s is 503, never a refused or accepted token', async (_, body, status) => {
    respond(body, status)
    const refused = await call(newToken())
    expect(refused.status).toBe(503)
    expect(refused.headers?.get('retry-after')).toBe('5')
    expect(refused.headers?.get('www-authenticate')).toBeNull()
  })

  test('since it is down is 503, and the next request asks again', async () => {
    world.provider.faults.set('introspection', { kind: 'reset' })
    const token = newToken()
    expect((await call(token)).status).toBe(503)
    world.provider.faults.clear()
    respond(active())
    expect((await call(token)).status).toBe(200)
  })
})

test('fifty requests with one token ask once', async () => {
  respond(active())
  const token = newToken()
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => call(token)))
  expect(outcomes.every(({ status }) => status === 200)).toBe(true)
  expect(introspections()).toHaveLength(1)
})

test('fifty unknown tokens at once stop neither a verified JWT nor another client', async () => {
  respond(active())
  let waiting = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  /** The provider does not respond to this client about opaque tokens before `release`. */
  const slow: typeof globalThis.fetch = async (url, init) => {
    if (String(init?.body).includes('opaque-token')) {
      waiting += 1
      await released
    }
    return globalThis.fetch(url, init)
  }
  const { client } = world.another({ [customFetch]: slow })
  const flood = Array.from({ length: 50 }, () => call(newToken(), {}, client))
  await vi.waitFor(() => expect(waiting).toBe(50), { timeout: 20_000 })
  expect((await call(newToken(), {}, client)).status).toBe(503)
  expect((await call(await jwt(), { introspection: 'always' }, client)).status).toBe(200)
  expect((await call(newToken())).status).toBe(200)
  release()
  expect((await Promise.all(flood)).every(({ status }) => status === 200)).toBe(true)
})

test('at most 50 tokens are introspected at once; more are 503', async () => {
  respond(active())
  const outcomes = await Promise.all(Array.from({ length: 60 }, () => call(newToken())))
  const counted = (wanted: number) => outcomes.filter(({ status }) => status === wanted).length
  expect([counted(200), counted(503)]).toEqual([50, 10])
})

function jwt(): Promise<string> {
  const { clock, provider } = world
  const claims = { iss: provider.issuer, aud: API, sub: 'dev|alice', client_id: 'mobile-app', scope: 'a' }
  return provider.sign({ ...claims, iat: clock.now, exp: clock.now + 300, jti: `${++tokens}` })
}

describe('a JWT', () => {
  test.each(['.', '....', '.x', '.x.y.z'])('followed by %s is malformed, not opaque', async (end) => {
    respond(active())
    const token = (await jwt()) + end
    for (const introspection of [true, 'always'] as const)
      expect((await call(token, { introspection })).status).toBe(401)
    expect(introspections()).toEqual([])
  })

  test('that is encrypted is opaque', async () => {
    respond(active())
    const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM' })).toString('base64url')
    expect((await call(`${header}..a.b.${++tokens}`)).status).toBe(200)
  })

  test('is not introspected, whatever the provider would say', async () => {
    respond(active())
    expect((await call(await jwt())).status).toBe(200)
    const forged = `${(await jwt()).slice(0, -6)}AAAAAA`
    expect((await call(forged)).status).toBe(401)
    expect(introspections()).toEqual([])
  })

  test('is verified and introspected with always', async () => {
    const token = await jwt()
    respond({ active: true })
    expect((await call(token, { introspection: 'always' })).auth).toMatchObject({ scope: 'a' })
    respond({ active: false })
    expect((await call(await jwt(), { introspection: 'always' })).status).toBe(401)
    respond({ active: true })
    const forged = `${(await jwt()).slice(0, -6)}AAAAAA`
    const before = introspections().length
    expect((await call(forged, { introspection: 'always' })).status).toBe(401)
    expect(introspections()).toHaveLength(before)
  })
})

test('the provider says when to repeat the request, at most in 300 s', async () => {
  for (const [given, expected] of [
    ['120', '120'],
    ['1', '5'],
    ['86400', '300'],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'retry-after': given }
    world.provider.faults.set('introspection', { kind: 'respond', status: 429, body: '{}', headers })
    expect((await call(newToken())).headers?.get('retry-after')).toBe(expected)
  }
})

test('a client that is refused gets no part of its token, and neither does the log', async () => {
  respond(active({ aud: 'x' }))
  const token = newToken()
  await call(token)
  expect(JSON.stringify(world.events)).not.toContain(token)
})
