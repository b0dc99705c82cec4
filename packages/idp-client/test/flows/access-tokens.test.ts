import { createHmac, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { GuardedApi, Options, SignOptions } from '../support/guarded-api.ts'
import { API, INVALID, provideGuardedApi } from '../support/guarded-api.ts'

/** Tokens that an API of the application gets: accepted ones, and attacks. */

let api: GuardedApi
provideGuardedApi((started) => {
  api = started
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** The token with another header; its signature is that of the former one. */
const withHeader = (token: string, header: object): string =>
  `${encode(header)}.${token.split('.').slice(1).join('.')}`

function hmacToken(key: string): string {
  const input = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode(api.claims())}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

describe('an access token', () => {
  test('passes, and the handler gets whom it names', async () => {
    const { auth, status } = await api.call(await api.bearer())
    expect(status).toBe(200)
    expect(auth).toMatchObject({
      kind: 'token',
      sub: 'dev|alice',
      clientId: 'mobile-app',
      isClient: false,
      scope: 'openid read:things',
      claims: { jti: 'one' },
    })
    expect(auth).not.toHaveProperty('session')
  })

  test.each(['rfc9068', 'jwt', 'untyped', 'auth0', 'keycloak', 'entra'] as const)(
    'passes as providers like %s issue it',
    async (profile) => {
      const { provider } = api.world
      provider.settings.accessTokenProfile = profile
      const user = api.world.newBrowser()
      await api.world.login(user)
      const { tokenSet } = await user.session()
      provider.settings.accessTokenProfile = 'rfc9068'
      const { auth, status } = await api.call(
        { authorization: `bearer ${tokenSet.accessToken}` },
        { scope: 'read:things' },
      )
      expect(status).toBe(200)
      expect(auth).toMatchObject({ sub: 'dev|alice', isClient: false })
    },
  )

  test.each<[string, Record<string, unknown>]>([
    ['client_id', { sub: 'service', client_id: 'service' }],
    ['azp', { sub: 'service', client_id: undefined, azp: 'service' }],
    ['cid', { sub: 'service', client_id: undefined, cid: 'service' }],
    ['sub of Auth0', { sub: 'service@clients', client_id: undefined, azp: 'service' }],
    ['sub of Auth0 in the profile of RFC 9068', { sub: 'service@clients', client_id: 'service' }],
    [
      'client_id beside azp at Keycloak',
      { typ: 'Bearer', sub: 'uuid', client_id: 'service', azp: 'service' },
    ],
    ['idtyp', { idtyp: 'app' }],
    ['gty', { gty: 'client-credentials' }],
  ])('of a client is told from that of a user by %s', async (_, claims) => {
    const { auth } = await api.call(await api.bearer(claims))
    expect(auth).toMatchObject({ kind: 'token', isClient: true })
    expect(
      await api.call(await api.bearer(claims), { authorize: ({ isClient }) => !isClient }),
    ).toMatchObject({
      status: 403,
      error: 'access_denied',
    })
  })

  test('has its scope in scope or scp, as a string or a list', async () => {
    const want = { scope: ['read:things', 'write:things'] }
    const scopes = [
      { scope: 'write:things read:things' },
      { scope: undefined, scp: 'write:things read:things' },
      { scope: undefined, scp: ['write:things', 'read:things'] },
    ]
    for (const claims of scopes) expect((await api.call(await api.bearer(claims), want)).status).toBe(200)
  })

  test('meets requirements by its own claims only', async () => {
    const { now } = api.world.clock
    const strong = { acr: 'gold', amr: ['pwd', 'otp'], auth_time: now - 10, org_id: 'org_1' }
    const requirements: readonly Options[] = [
      { acr: ['gold', 'silver'] },
      { amr: 'otp' },
      { maxAge: 100 },
      { organization: 'org_1' },
    ]
    for (const each of requirements) {
      expect((await api.call(await api.bearer(strong), each)).status).toBe(200)
      // The session of the same user does not help.
      expect(
        (await api.call({ ...(await api.bearer()), cookie: true }, { ...each, mixed: true })).status,
      ).not.toBe(200)
    }
    const { challenge, status } = await api.call(await api.bearer(), { acr: 'gold', maxAge: 60 })
    expect(status).toBe(401)
    expect(challenge).toContain('error="insufficient_user_authentication"')
    expect(challenge).toContain('acr_values="gold", max_age="60"')
  })

  test('without the required scope: 403 that names the scopes to request, those of the token included', async () => {
    const { challenge, error, status } = await api.call(await api.bearer(), { scope: 'write:things' })
    expect([status, error]).toEqual([403, 'insufficient_scope'])
    expect(challenge).toBe(
      'Bearer error="insufficient_scope", error_description="The required scope was not granted.", scope="write:things openid read:things"',
    )
  })

  test('for one of several resources passes for that one', async () => {
    const { client } = api.world
    const [first, second] = ['https://one.example.test/', API].map((audience) =>
      client.resource({ audience }),
    )
    if (!(first && second)) throw new Error('resources are missing')
    const request = new Request('http://localhost:3000/api', {
      headers: { authorization: `Bearer ${await api.sign()}` },
    })
    const both = await client.requireAuth(request, { accept: [first, second] })
    expect(both.auth).toMatchObject({ kind: 'token' })
    expect((await client.requireAuth(request, { accept: [first] })).response?.status).toBe(401)
  })
})

describe('attacks with tokens that the provider signed', () => {
  const other: readonly [string, Record<string, unknown>, SignOptions?][] = [
    ['another audience', { aud: 'https://other.example.test/' }],
    ['no audience', { aud: undefined }],
    ['an audience that only begins like ours', { aud: `${API}x` }],
    ['an audience in another case', { aud: API.toUpperCase() }],
    ['an audience as an object', { aud: { [API]: true } }],
    ['an empty list of audiences', { aud: [] }],
    ['an audience in a nested list', { aud: [[API]] }],
    ['the client id as audience', { aud: 'dev-app' }],
    ['the client id beside our audience', { aud: [API, 'dev-app'] }],
    ['another issuer', { iss: 'https://other.example.test' }],
    ['the issuer with a slash', { iss: `${'http://127.0.0.1'}/` }],
    ['no issuer', { iss: undefined }],
    ['the issuer in a list', { iss: ['http://127.0.0.1'] }],
    ['an end that is past', { exp: -3600 }],
    ['no end', { exp: undefined }],
    ['an end as text', { exp: '9999999999' }],
    ['an end that is no finite number', { exp: null }],
    ['a start in an hour', { nbf: 3600 }],
    ['a start as text', { nbf: 'now' }],
    ['issued tomorrow', { iat: 86_400 }],
    ['issued as text', { iat: 'now' }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject as a list', { sub: ['dev|alice'] }],
    ['the payload type of a refresh token', { typ: 'Refresh' }],
    ['the payload type of an offline token', { typ: 'Offline' }],
    ['the payload type of an ID token', { typ: 'ID' }],
    ['the payload type of a logout token', { typ: 'Logout' }],
    ['the payload type in lower case', { typ: 'bearer' }],
    ['the payload type as a list', { typ: ['Bearer'] }],
    ['events, as a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
    ['at_hash, as an ID token', { at_hash: 'x' }],
    ['at_hash with null', { at_hash: null }],
    ['c_hash, as an ID token', { c_hash: 'x' }],
    ['s_hash, as an ID token', { s_hash: 'x' }],
    ['code, as a JARM response', { code: 'x' }],
    ['response, as a JARM response', { response: 'x' }],
    ['a nonce, as an ID token', { nonce: 'x' }],
    ['a binding to a DPoP key', { cnf: { jkt: 'x' } }],
    ['token_use of an ID token', { token_use: 'id' }],
    ['payload type DPoP without a binding', { typ: 'DPoP' }],
    ['a binding to a certificate', { cnf: { 'x5t#S256': 'x' } }],
    ['an empty binding', { cnf: null }],
    ['the type of a logout token', {}, { header: { typ: 'logout+jwt' } }],
    ['the type of an introspection response', {}, { header: { typ: 'token-introspection+jwt' } }],
    ['the type of an authorization response', {}, { header: { typ: 'oauth-authz-req+jwt' } }],
    ['the type of a DPoP proof', {}, { header: { typ: 'dpop+jwt' } }],
    ['the type of a client assertion', {}, { header: { typ: 'client-authentication+jwt' } }],
  ]
  test.each(other)('%s: 401', async (_, { exp, iat, iss, nbf, ...claims }, options) => {
    const { now } = api.world.clock
    const later = (value: unknown): unknown => (typeof value === 'number' ? now + value : value)
    const times = Object.entries({ exp, iat, iss, nbf }).filter(
      ([name]) => name in (other.find(([n]) => n === _)?.[1] ?? {}),
    )
    const changes = { ...claims, ...Object.fromEntries(times.map(([name, value]) => [name, later(value)])) }
    const outcome = await api.call(await api.bearer(changes, options))
    expect([outcome.status, outcome.challenge]).toEqual([401, INVALID])
    expect(JSON.stringify(api.world.events)).not.toContain('eyJ')
  })

  test.each([undefined, 'JWT'])(
    'an untyped token (%s) that has nothing of an access token: 401',
    async (typ) => {
      const claims = { scope: undefined, client_id: undefined }
      const header = { typ } as { typ: string }
      expect((await api.call(await api.bearer(claims, { header }))).status).toBe(401)
      expect((await api.call(await api.bearer({ ...claims, azp: 'app' }, { header }))).status).toBe(401)
      // Microsoft Entra ID puts roles into ID tokens, too.
      expect((await api.call(await api.bearer({ ...claims, roles: ['Admin'] }, { header }))).status).toBe(401)
      expect((await api.call(await api.bearer({ ...claims, typ: 'Bearer' }, { header }))).status).toBe(200)
    },
  )

  test('the ID token of a session: 401, also where the provider puts the API into its audience', async () => {
    const { idToken } = (await api.browser.session()).tokenSet
    expect((await api.call({ authorization: `Bearer ${idToken}` })).status).toBe(401)
    const claims = { aud: [API, 'other-app'], azp: 'other-app', client_id: undefined, scope: undefined }
    expect((await api.call(await api.bearer(claims, { header: { typ: 'JWT' } }))).status).toBe(401)
    const excluded = await api.call(await api.bearer({ aud: [API, 'other-app'] }), {
      resource: { notAudience: ['other-app'] },
    })
    expect(excluded.status).toBe(401)
  })

  test('a refresh token, an opaque token: 401', async () => {
    for (const token of ['opaque', 'a.b', 'a.b.c.d.e', '....', 'e30.e30.', '~'])
      expect([token, (await api.call({ authorization: `Bearer ${token}` })).status]).toEqual([token, 401])
  })

  test('strict accepts only tokens of RFC 9068', async () => {
    const strict = { resource: { strict: true } }
    expect((await api.call(await api.bearer(), strict)).status).toBe(200)
    const header = { typ: 'application/AT+JWT' }
    expect((await api.call(await api.bearer({}, { header }), strict)).status).toBe(200)
    for (const typ of ['JWT', undefined])
      expect(
        (await api.call(await api.bearer({}, { header: { typ } as { typ: string } }), strict)).status,
      ).toBe(401)
    for (const name of ['iat', 'jti', 'sub', 'client_id'])
      expect((await api.call(await api.bearer({ [name]: undefined }), strict)).status).toBe(401)
  })
})

describe('attacks with tokens that the provider did not sign', () => {
  const attacks: readonly [string, () => string | Promise<string>][] = [
    ['no signature', async () => (await api.sign()).replace(/[^.]+$/, '')],
    [
      'alg none',
      async () => withHeader(await api.sign(), { alg: 'none', typ: 'at+jwt' }).replace(/[^.]+$/, ''),
    ],
    ['alg None with a signature', async () => withHeader(await api.sign(), { alg: 'None', typ: 'at+jwt' })],
    ['alg HS256 with the public key', () => hmacToken(JSON.stringify(api.world.provider.jwks().keys[0]))],
    ['alg HS256 with the client secret', () => hmacToken(String(api.world.provider.clientSecret))],
    [
      'a critical extension',
      async () => withHeader(await api.sign(), { alg: 'RS256', typ: 'at+jwt', crit: ['exp'] }),
    ],
    ['no alg', async () => withHeader(await api.sign(), { typ: 'at+jwt' })],
    ['an alg as a list', async () => withHeader(await api.sign(), { alg: ['RS256'], typ: 'at+jwt' })],
    [
      'a foreign key in jwk',
      () =>
        api.sign(
          {},
          {
            key: foreign.privateKey,
            header: { typ: 'at+jwt', jwk: foreign.publicKey.export({ format: 'jwk' }) } as never,
          },
        ),
    ],
    [
      'a foreign key in jku',
      () =>
        api.sign(
          {},
          { key: foreign.privateKey, header: { typ: 'at+jwt', jku: 'http://127.0.0.1:1/keys' } as never },
        ),
    ],
    [
      'a foreign key in x5c',
      () => api.sign({}, { key: foreign.privateKey, header: { typ: 'at+jwt', x5c: ['MII'] } as never }),
    ],
    [
      'a foreign key with the id of ours',
      () => api.sign({}, { key: foreign.privateKey, header: { typ: 'at+jwt' } }),
    ],
    [
      'a changed payload',
      async () => {
        const [header, , signature] = (await api.sign()).split('.')
        return [header, encode(api.claims({ sub: 'dev|bob' })), signature].join('.')
      },
    ],
    ['a payload that is no JSON', async () => (await api.sign()).replace(/\.[^.]+\./, '.bm8.')],
    ['a payload with spaces', async () => (await api.sign()).replace('.', '.=')],
    ['an encrypted token', () => 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0.a.b.c.d'],
    ['1 MB', () => `${'a'.repeat(1_048_577)}.e30.e30`],
  ]
  test.each(attacks)('%s: never accepted', async (_, token) => {
    // Only newly loaded keys prove that no key verifies a token.
    api.world.clock.now += 61
    const outcome = await api.call({ authorization: `Bearer ${await token()}` })
    expect([400, 401]).toContain(outcome.status)
    expect(outcome.challenge).toMatch(/^Bearer error="invalid_(?:token|request)"/)
  })

  test('nothing that a token names is requested', async () => {
    const header = {
      typ: 'at+jwt',
      kid: 'new',
      jku: `${api.world.provider.issuer}/elsewhere`,
      x5u: `${api.world.provider.issuer}/x5u`,
    }
    await api.call(await api.bearer({}, { header: header as never }))
    const paths = api.world.provider.requests().map(({ url }) => url)
    expect(paths.filter((path) => path.includes('elsewhere') || path.includes('x5u'))).toEqual([])
  })
})
