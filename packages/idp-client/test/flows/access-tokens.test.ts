import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { GuardedApi, Options } from '../support/guarded-api.ts'
import { API, INVALID, provideGuardedApi } from '../support/guarded-api.ts'

/** Tokens that an API of the application gets: accepted ones, and attacks. */

let api: GuardedApi
provideGuardedApi((started) => {
  api = started
})

const { privateKey: foreign } = generateKeyPairSync('rsa', { modulusLength: 2048 })

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
    ['an id that ends like sub of Auth0', { sub: 'service@clients', client_id: 'service@clients' }],
    [
      'client_id beside azp at Keycloak',
      { typ: 'Bearer', sub: 'uuid', client_id: 'service', azp: 'service' },
    ],
    ['idtyp', { idtyp: 'app' }],
    ['gty', { gty: 'client-credentials' }],
  ])('of a client is told from that of a user by %s', async (_, claims) => {
    const { auth } = await api.call(await api.bearer(claims))
    const clientId = expect.stringMatching(/^(?:service|service@clients|mobile-app)$/)
    expect(auth).toMatchObject({ kind: 'token', isClient: true, clientId })
    expect(
      await api.call(await api.bearer(claims), { authorize: ({ isClient }) => !isClient }),
    ).toMatchObject({
      status: 403,
      error: 'access_denied',
    })
  })

  test.each<[string, Record<string, unknown>]>([
    ['token_use of Amazon Cognito', { token_use: 'access' }],
    ['token_use access_token', { token_use: 'access_token' }],
    ['a nonce at Keycloak', { typ: 'Bearer', client_id: undefined, azp: 'mobile-app', nonce: 'n' }],
    ['neither client_id nor azp at Keycloak', { typ: 'Bearer', client_id: undefined }],
    ['another client_id than azp at Keycloak', { typ: 'Bearer', azp: 'other' }],
    ['client_id beside azp elsewhere', { azp: 'mobile-app' }],
  ])('of a user passes as that with %s', async (_, claims) => {
    const { auth } = await api.call(await api.bearer(claims))
    expect(auth).toMatchObject({ kind: 'token', sub: 'dev|alice', isClient: false })
  })

  test('has its scope in scope or scp, as a string or a list', async () => {
    const want = { scope: ['read:things', 'write:things'] }
    const scopes = [
      { scope: 'write:things read:things' },
      { scope: undefined, scp: 'write:things read:things' },
      { scope: undefined, scp: ['write:things', 'read:things'] },
      { scope: 'write:things  read:things "quoted" é' },
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
      { organization: ['org_1', 'org_2'] },
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

describe('attacks that the adapter contract leaves to this file', () => {
  test.each([undefined, 'JWT'])(
    'an untyped token (%s) that has nothing of an access token: 401, unless its payload says Bearer',
    async (typ) => {
      const claims = { scope: undefined, client_id: undefined }
      const header = { typ } as { typ: string }
      expect((await api.call(await api.bearer({ ...claims, azp: 'app' }, { header }))).status).toBe(401)
      expect((await api.call(await api.bearer({ ...claims, typ: 'Bearer' }, { header }))).status).toBe(200)
    },
  )

  test('an ID token of a client in notAudience: 401, although it looks like an access token', async () => {
    const excluded = await api.call(await api.bearer({ aud: [API, 'other-app'] }), {
      resource: { notAudience: ['other-app'] },
    })
    expect([excluded.status, excluded.challenge]).toEqual([401, INVALID])
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

  test.each<[string, () => string | Promise<string>]>([
    ['1 MB', () => `${'a'.repeat(1_048_577)}.e30.e30`],
    ['a foreign key without an id', () => api.sign({}, { key: foreign, header: { typ: 'at+jwt' } })],
  ])('%s: 401', async (_, token) => {
    // Only newly loaded keys prove that no key verifies a token.
    api.world.clock.now += 61
    const outcome = await api.call({ authorization: `Bearer ${await token()}` })
    expect([outcome.status, outcome.challenge]).toEqual([401, INVALID])
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

describe('a token whose header is that of a verified one', () => {
  type Attack = (sign: GuardedApi['sign']) => Promise<string>
  const flip = (signed: string): string =>
    `${signed.slice(0, -6)}${signed.at(-6) === 'A' ? 'B' : 'A'}${signed.slice(-5)}`
  test.each<[string, Attack]>([
    ['for another API', (sign) => sign({ aud: 'https://other.example.test/' })],
    ['of another issuer', (sign) => sign({ iss: 'https://evil.example' })],
    ['for a client', (sign) => sign({ aud: [API, api.world.provider.clientId] })],
    ['that has expired', (sign) => sign({ exp: api.world.clock.now - 3600 })],
    ['of tomorrow', (sign) => sign({ nbf: api.world.clock.now + 86_400 })],
    ['without exp', (sign) => sign({ exp: undefined })],
    ['of a logout', (sign) => sign({ events: {} })],
    ['with a changed signature', async (sign) => flip(await sign())],
    ['with padding', async (sign) => `${await sign()}=`],
    ['with a fourth part', async (sign) => `${await sign()}.e30`],
    ['without a signature', async (sign) => (await sign()).replace(/[^.]+$/, '')],
    [
      'with claims of another one',
      async (sign) => {
        const [head, , signature] = (await sign()).split('.')
        const [, claims] = (await sign({ sub: 'dev|bob' })).split('.')
        return [head, claims, signature].join('.')
      },
    ],
  ])('%s is refused like one with a new header', async (name, attack) => {
    // An unknown parameter makes the header a new one.
    const header = { typ: 'at+jwt', note: name }
    const sign: GuardedApi['sign'] = (claims) => api.sign(claims, { header })
    const outcomes: unknown[] = []
    for (const isKnown of [false, true]) {
      if (isKnown) expect((await api.call({ authorization: `Bearer ${await sign()}` })).status).toBe(200)
      const { challenge, status } = await api.call({ authorization: `Bearer ${await attack(sign)}` })
      outcomes.push([status, challenge])
    }
    expect(outcomes[0]).toEqual([401, INVALID])
    expect(outcomes[1]).toEqual(outcomes[0])
  })

  test('is refused for the encoding of its payload, although the provider has signed it', async () => {
    api.world.clock.now += 601
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const payload = ['', 'a'].map((note) => encode(api.claims({ note }))).find((text) => text.length % 4 > 0)
    // The bits of the last character that no byte uses.
    const withUnusedBits = payload?.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1))
    const toToken = (claims: string | undefined): string => {
      const input = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: 'own' })}.${claims}`
      return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
    }
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'own' }]
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ keys })
    api.world.provider.faults.set('jwks', { kind: 'respond', status: 200, body, headers })
    // The next test loads the keys of the provider again.
    onTestFinished(() => {
      api.world.clock.now += 601
    })
    const statuses: number[] = []
    for (const claims of [withUnusedBits, payload, withUnusedBits]) {
      const { status } = await api.call({ authorization: `Bearer ${toToken(claims)}` })
      statuses.push(status)
    }
    expect(statuses).toEqual([401, 200, 401])
  })

  test('passes with a new key that has the id of the former one', async () => {
    api.world.clock.now += 601
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const input = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: 'same' })}.${encode(api.claims())}`
    const headers = { 'content-type': 'application/json' }
    onTestFinished(() => {
      api.world.clock.now += 601
    })
    for (const modulusLength of [2048, 2048, 1024, 2048]) {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
      const body = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'same' }] })
      api.world.provider.faults.set('jwks', { kind: 'respond', status: 200, body, headers })
      const signature = sign('sha256', Buffer.from(input), privateKey).toString('base64url')
      const { status } = await api.call({ authorization: `Bearer ${input}.${signature}` })
      expect(status).toBe(modulusLength < 2048 ? 401 : 200)
      api.world.clock.now += 90
    }
  })

  test('is refused if its key cannot be used', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'short' }]
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ keys })
    api.world.provider.faults.set('jwks', { kind: 'respond', status: 200, body, headers })
    api.world.clock.now += 601
    onTestFinished(() => {
      api.world.clock.now += 601
    })
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const input = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: 'short' })}.${encode(api.claims())}`
    const signature = sign('sha256', Buffer.from(input), privateKey).toString('base64url')
    expect(await api.call({ authorization: `Bearer ${input}.${signature}` })).toMatchObject({
      status: 401,
      challenge: INVALID,
    })
  })

  test.each([
    ['the only key is too short', 1024, { alg: 'RS256' }, 'The loaded key that fits it cannot be used'],
    ['a key of another token', 2048, { alg: 'RS256' }, 'No loaded key verifies its signature'],
    ['no key of its algorithm', 2048, { alg: 'PS256' }, 'No loaded key fits it'],
  ])(
    'without kid is undecided while keys may not be loaded again, and the log says why: %s',
    async (_name, modulusLength, { alg }, why) => {
      const { clock, events, provider } = api.world
      clock.now += 601
      onTestFinished(() => {
        clock.now += 601
      })
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength })
      const body = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256' }] })
      const headers = { 'content-type': 'application/json' }
      provider.faults.set('jwks', { kind: 'respond', status: 200, body, headers })
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
      const input = `${encode({ alg, typ: 'at+jwt' })}.${encode(api.claims())}`
      const signature = sign('sha256', Buffer.from(input), privateKey).toString('base64url')
      const call = () => api.call({ authorization: `Bearer ${input}.${signature}` })
      await call()
      events.length = 0
      expect((await call()).status).toBe(503)
      expect(events).toEqual([
        expect.objectContaining({
          error: 'TOKEN_UNDECIDED',
          detail: expect.stringContaining(`${why}, and keys`),
        }),
      ])
    },
  )

  test('causes no request if it is for another API, also when keys have to be loaded again', async () => {
    const other = await api.bearer({ aud: 'https://other.example.test/', exp: api.world.clock.now + 7200 })
    const own = await api.bearer({ exp: api.world.clock.now + 7200 })
    expect((await api.call(own)).status).toBe(200)
    api.world.clock.now += 601
    api.world.provider.clearRequests()
    expect((await api.call(other)).status).toBe(401)
    expect(api.world.provider.requests()).toEqual([])
    expect((await api.call(own)).status).toBe(200)
    expect(api.world.provider.requests().length).toBeGreaterThan(0)
  })
})
