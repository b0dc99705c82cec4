import { inspect } from 'node:util'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/config/options.ts'
import { customFetch } from '../../src/config/options.ts'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import { getMfaChallenge } from '../../src/errors/error-state.ts'
import type { CustomTokenExchangeOptions } from '../../src/flows/exchange-token.ts'
import { exchangeToken } from '../../src/flows/exchange-token.ts'
import { startWorld } from '../support/app.ts'
import type { Realm } from '../support/provider-engine.ts'
import { rejectionOf, startRealm } from '../support/provider-engine.ts'
import { toTimeout } from '../support/timeouts.ts'

const API = 'https://api.example.test/'
const TYPE = 'urn:example:user-name'

let realm: Realm
beforeAll(async () => {
  realm = await startRealm()
})
afterAll(() => realm.provider.stop())
beforeEach(() => {
  realm.provider.faults.clear()
  realm.provider.clearRequests()
  realm.events.length = 0
})

const exchange = (options: Partial<CustomTokenExchangeOptions> = {}, client: IdpClientOptions = {}) =>
  exchangeToken(realm.engine(client), {
    subjectToken: 'alice',
    subjectTokenType: TYPE,
    ...options,
  })

const sent = () => realm.provider.requests('token').map(({ body }) => body)

function respondWith(status: number, body: unknown): void {
  const headers = { 'content-type': 'application/json' }
  realm.provider.faults.set('token', { kind: 'respond', status, body: JSON.stringify(body), headers })
}

describe('an exchange', () => {
  test('[S178,S179,S181] returns tokens of the subject; without a scope the default is sent', async () => {
    const result = await exchange()
    expect(result).toEqual({
      accessToken: expect.any(String),
      idToken: expect.any(String),
      refreshToken: expect.any(String),
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: expect.stringContaining('openid'),
    })
    expect(decodeJwt(result.idToken ?? '')).toMatchObject({ sub: 'dev|alice' })
    expect(sent()).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: 'alice',
        subject_token_type: TYPE,
        scope: 'openid profile email offline_access',
      },
    ])
    expect(realm.provider.requests('token')[0]?.url).not.toContain('?')
  })

  test('[S180] sends audience, scope and organization to the provider', async () => {
    const result = await exchange({ audience: API, scope: 'read:things', organization: 'acme' })
    expect(sent()).toMatchObject([{ audience: API, scope: 'read:things', organization: 'acme' }])
    expect(decodeJwt(result.accessToken)).toMatchObject({ aud: API, scope: 'read:things' })
    expect(result).toMatchObject({ scope: 'read:things' })
    expect(result).not.toHaveProperty('idToken')
    expect(result).not.toHaveProperty('refreshToken')
  })

  test('with an actor the result names it', async () => {
    const result = await exchange({ actorToken: 'bob', actorTokenType: 'https://example.com/user-name' })
    expect(result.act).toEqual({ sub: 'dev|bob' })
    await exchange({ actorTokenType: 'not a uri' })
    expect(sent()[1]).not.toHaveProperty('actor_token_type')
  })

  test('sends additional parameters as strings, each value of a list, and neither null nor undefined', async () => {
    const bodies: string[] = []
    const engine = realm.engine({
      [customFetch]: async (input, init) => {
        if (init?.body) bodies.push(String(init.body))
        return fetch(input, init)
      },
    })
    const additionalParameters = {
      device: 7,
      flag: false,
      empty: '',
      none: null,
      gone: undefined,
      many: ['a', 'b'],
      authorization_details: [{ type: 'payment' }],
      claims: { userinfo: null },
      page: new URL('https://example.com/a'),
    }
    await exchangeToken(engine, { subjectToken: 'alice', subjectTokenType: TYPE, additionalParameters })
    const form = new URLSearchParams(bodies[0])
    expect(bodies).toHaveLength(1)
    expect(form.getAll('many')).toEqual(['a', 'b'])
    expect(form.getAll('authorization_details')).toEqual(['[{"type":"payment"}]'])
    expect([form.get('claims'), form.get('page')]).toEqual(['{"userinfo":null}', 'https://example.com/a'])
    expect([form.get('device'), form.get('flag'), form.get('empty')]).toEqual(['7', 'false', ''])
    expect([form.has('none'), form.has('gone')]).toEqual([false, false])
  })

  test.each([{}, { useDPoP: true }])(
    'returns a token that is no access token (RFC 8693 section 2.2.1), with %o',
    async (options) => {
      const issued = 'urn:ietf:params:oauth:token-type:id-jag'
      respondWith(200, {
        access_token: 'grant',
        issued_token_type: issued,
        token_type: 'N_A',
        expires_in: 60,
      })
      const client = { ...options, dpopKeyPair: await generateDpopKeyPair() }
      const additionalParameters = { requested_token_type: issued }
      const result = { accessToken: 'grant', tokenType: 'N_A', expiresIn: 60 }
      expect(await exchange({ additionalParameters }, client)).toEqual(result)
    },
  )

  test.each([undefined, 'urn:ietf:params:oauth:token-type:access_token'])(
    'refuses a token that is no access token if %j was requested',
    async (requested) => {
      respondWith(200, { access_token: 'grant', token_type: 'N_A' })
      const additionalParameters = { requested_token_type: requested }
      await expect(exchange({ additionalParameters })).rejects.toMatchObject({
        code: 'EXCHANGE_FAILED',
        cause: { code: 'RESPONSE_INVALID' },
      })
    },
  )

  test('accepts a response without issued_token_type and expires_in', async () => {
    respondWith(200, { access_token: 'opaque', token_type: 'bearer' })
    expect(await exchange()).toEqual({ accessToken: 'opaque', tokenType: 'Bearer', expiresIn: 300 })
  })
})

describe('[S182] options are checked before any request', () => {
  test.each([
    [{ subjectToken: '' }, 'MISSING_SUBJECT_TOKEN'],
    [{ subjectToken: '  \n' }, 'MISSING_SUBJECT_TOKEN'],
    [{ subjectToken: undefined }, 'MISSING_SUBJECT_TOKEN'],
    [{ subjectToken: 7 }, 'MISSING_SUBJECT_TOKEN'],
    [{ subjectTokenType: undefined }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: '' }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: 'urn:a:b' }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: 'no uri at all' }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: 'urn:missing-namespace-specific-part' }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: ' urn:example:token' }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ subjectTokenType: `https://example.com/${'x'.repeat(100)}` }, 'INVALID_SUBJECT_TOKEN_TYPE'],
    [{ actorToken: 'bob' }, 'MISSING_ACTOR_TOKEN_TYPE'],
    [{ actorToken: 'bob', actorTokenType: ' ' }, 'MISSING_ACTOR_TOKEN_TYPE'],
    [{ actorToken: 'bob', actorTokenType: 'user-name-of-an-actor' }, 'INVALID_ACTOR_TOKEN_TYPE'],
    [{ actorToken: '', actorTokenType: TYPE }, 'MISSING_ACTOR_TOKEN'],
    [{ additionalParameters: { grant_type: 'password' } }, 'RESERVED_PARAMETER'],
    [{ additionalParameters: { client_id: 'other' } }, 'RESERVED_PARAMETER'],
    [{ additionalParameters: { client_assertion: 'x' } }, 'RESERVED_PARAMETER'],
    [{ additionalParameters: { subject_token: 'mallory' } }, 'RESERVED_PARAMETER'],
    [{ additionalParameters: { scope: 'admin' } }, 'RESERVED_PARAMETER'],
  ])('%j is %s', async (options, code) => {
    const error = await rejectionOf(exchange(options as Partial<CustomTokenExchangeOptions>))
    expect(error).toMatchObject({ name: 'CustomTokenExchangeError', code })
    expect(sent()).toEqual([])
  })

  test.each([[() => 'source'], [[['a']]], [['a', { type: 'payment' }]]])(
    'a parameter without a string form, %j, is a fault of the call',
    async (value) => {
      const error = await rejectionOf(exchange({ additionalParameters: { note: value } }))
      expect(error).toMatchObject({ code: 'INVALID_CONFIGURATION' })
      expect(String(error)).toContain('additionalParameters.note')
      expect(sent()).toEqual([])
    },
  )

  test('types of the minimum and maximum length are accepted', async () => {
    respondWith(200, { access_token: 'a', token_type: 'bearer' })
    for (const subjectTokenType of ['urn:ab:cde', `urn:example:${'x'.repeat(88)}`, 'https://example.com/t']) {
      await exchange({ subjectTokenType })
    }
    expect(sent()).toHaveLength(3)
  })
})

describe('[S183] an exchange that fails', () => {
  test('the provider rejects: EXCHANGE_FAILED with its text in the cause, and without a token', async () => {
    const subjectToken = 'a-subject-token-nobody-knows'
    const error = await rejectionOf(exchange({ subjectToken }))
    expect(error).toMatchObject({
      name: 'CustomTokenExchangeError',
      code: 'EXCHANGE_FAILED',
      cause: { name: 'OAuthError', error: 'invalid_grant', providerStatus: 400 },
    })
    // Neither error nor log repeat it.
    const { cause } = error as { cause: Error }
    expect([error.stack, cause.stack, JSON.stringify([error, cause, realm.events])].join()).not.toContain(
      subjectToken,
    )
    expect(realm.provider.count('token')).toBe(1)
  })

  test.each([
    [{ token_type: 'bearer' }],
    [{ access_token: 'a' }],
    [{ access_token: '', token_type: 'bearer' }],
    [{ access_token: 'a', token_type: 'N_A' }],
    [null],
  ])('the response %j is rejected', async (body) => {
    respondWith(200, body)
    expect(await rejectionOf(exchange())).toMatchObject({
      code: 'EXCHANGE_FAILED',
      cause: { code: 'RESPONSE_INVALID' },
    })
  })

  test('an ID token for another client is rejected', async () => {
    const stop = realm.provider.tamperIdToken((claims) => {
      claims['aud'] = 'somebody-else'
    })
    const error = await rejectionOf(exchange())
    stop()
    expect(error).toMatchObject({ code: 'EXCHANGE_FAILED', cause: { code: 'ID_TOKEN_INVALID' } })
  })

  test.each([
    ['reset', 'REQUEST_FAILED'],
    ['hang', 'REQUEST_TIMEOUT'],
  ] as const)('%s: one request, %s', async (kind, code) => {
    await exchange()
    realm.provider.clearRequests()
    realm.provider.faults.set('token', { kind })
    expect(await rejectionOf(exchange({}, { httpTimeout: toTimeout({ kind }) }))).toMatchObject({
      code: 'EXCHANGE_FAILED',
      cause: { code, transient: true },
    })
    expect(realm.provider.count('token')).toBe(1)
  })

  test('the keys for DPoP cannot be used: the error of the configuration, as it is', async () => {
    const [one, other] = await Promise.all([generateDpopKeyPair(), generateDpopKeyPair()])
    const dpopKeyPair = { publicKey: one.publicKey, privateKey: other.privateKey }
    const key = { useDPoP: true, dpopKeyPair }
    const error = await rejectionOf(exchange({}, key))
    expect(error).toMatchObject({ name: 'InvalidConfigurationError', code: 'INVALID_CONFIGURATION' })
    expect(sent()).toEqual([])
  })

  test('discovery fails: the cause is the DiscoveryError', async () => {
    const down = await startRealm()
    down.provider.faults.set('discovery', { kind: 'respond', status: 500 })
    const options = { subjectToken: 'alice', subjectTokenType: TYPE }
    const error = await rejectionOf(exchangeToken(down.engine(), options))
    await down.provider.stop()
    expect(error).toMatchObject({ code: 'EXCHANGE_FAILED', cause: { name: 'DiscoveryError' } })
  })

  test('mfa_required: the challenge is stored beside the error, not in it', async () => {
    const requirements = { challenge: [{ type: 'otp' }] }
    respondWith(403, { error: 'mfa_required', mfa_token: 'raw-mfa-token', mfa_requirements: requirements })
    const error = await rejectionOf(exchange())
    expect(error).toMatchObject({ code: 'MFA_REQUIRED', mfa_requirements: requirements })
    const { cause } = error
    expect(cause).toMatchObject({ error: 'mfa_required', providerStatus: 403 })
    expect(getMfaChallenge(cause)).toEqual({ token: 'raw-mfa-token', requirements })
    expect(inspect([error, cause, realm.events], { depth: 9, showHidden: true })).not.toContain(
      'raw-mfa-token',
    )
  })
})

test('[S218] the session of the caller is unchanged, and none is required', async () => {
  const world = await startWorld()
  await world.login(world.browser, '', { user: 'bob' })
  const before = await world.client.getSession(world.browser.request('/'))
  const handled = await world.client.middleware(world.browser.request('/api'), async () => {
    const result = await world.client.customTokenExchange({ subjectToken: 'alice', subjectTokenType: TYPE })
    return Response.json({ sub: decodeJwt(result.idToken ?? '').sub })
  })
  expect(await handled.json()).toEqual({ sub: 'dev|alice' })
  expect(handled.headers.getSetCookie()).toEqual([])
  expect(await world.client.getSession(world.browser.request('/'))).toEqual(before)
  await world.provider.stop()
})
