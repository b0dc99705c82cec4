import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BackchannelAuthenticationOptions, BackchannelHint } from '../../src/flows/backchannel-auth.ts'
import { backchannelAuthentication } from '../../src/flows/backchannel-auth.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Realm } from '../support/provider-engine.ts'
import { rejectionOf, startRealm } from '../support/provider-engine.ts'
import { toTimeout } from '../support/timeouts.ts'

const SUB = 'dev|alice'

let realm: Realm
beforeAll(async () => {
  realm = await startRealm()
})
afterAll(() => realm.provider.stop())
beforeEach(() => {
  realm.provider.settings.cibaAutoApprove = true
  realm.provider.settings.cibaInterval = 0.01
  realm.provider.faults.clear()
  realm.provider.clearRequests()
  realm.events.length = 0
})

const authenticate = (
  options: Partial<
    Extract<BackchannelAuthenticationOptions, { loginHintToken?: undefined; idTokenHint?: undefined }>
  > = {},
  client: IdpClientOptions = {},
) =>
  backchannelAuthentication(realm.engine(client), {
    bindingMessage: 'Order 42',
    loginHint: { sub: SUB },
    ...options,
  })

/** The same with another hint than the `sub`. */
const authenticateBy = (hint: BackchannelHint) =>
  backchannelAuthentication(realm.engine(), { bindingMessage: 'Order 42', ...hint })

const started = () => realm.provider.requests('backchannelAuthentication').map(({ body }) => body)

/** Fails only when the test hangs. */
const eventually = { timeout: 60_000, interval: 10 }

/** The request that the provider shows to its user, once it is there. */
const pending = () => vi.waitUntil(() => realm.provider.ciba.pending()[0], eventually)
const polled = () => vi.waitUntil(() => realm.provider.count('token') > 0, eventually)

function respondWith(status: number, body: unknown, headers: Record<string, string> = {}, times = 1): void {
  realm.provider.faults.set(
    'token',
    {
      kind: 'respond',
      status,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    },
    { times },
  )
}

describe('max_age', () => {
  const approve = (authTime: unknown, client: IdpClientOptions, options: object = {}) => {
    const stop = realm.provider.tamperIdToken((claims) => {
      claims['auth_time'] = authTime
    })
    return authenticate(options, client).finally(stop)
  }
  const now = () => Math.floor(Date.now() / 1000)

  test.each([
    ['0 of the call', {}, { authorizationParams: { max_age: 0 } }],
    ['60 of the call', {}, { authorizationParams: { max_age: 60 } }],
    ['60 of the configuration', { authorizationParameters: { max_age: 60 } }, { authorizationParams: null }],
  ])('%s is sent, and an older authentication is rejected', async (title, client, options) => {
    expect((await approve(now(), client, options)).idTokenClaims.sub).toBe(SUB)
    expect(started()[0]?.['max_age']).toBe(title.split(' ')[0])
    for (const authTime of [1, undefined, 'now'])
      await expect(approve(authTime, client, options)).rejects.toMatchObject({
        code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
        cause: { code: 'ID_TOKEN_INVALID' },
      })
  })

  test('without it the time of the authentication does not matter', async () => {
    for (const authTime of [1, undefined])
      expect((await approve(authTime, {}, { authorizationParams: null })).idTokenClaims.sub).toBe(SUB)
    expect(started()[0]).not.toHaveProperty('max_age')
  })
})

test('details that are no JSON are rejected before any request', async () => {
  const error = await rejectionOf(authenticate({ authorizationDetails: [{ type: 'order', number: 42n }] }))
  expect(error).toMatchObject({ code: 'INVALID_BACKCHANNEL_REQUEST' })
  expect(started()).toEqual([])
})

describe('[B7] the hint', () => {
  const hints = () =>
    started().map(({ login_hint, login_hint_token, id_token_hint }) => ({
      login_hint,
      login_hint_token,
      id_token_hint,
    }))

  test('is sent unchanged as a string, and the user who approved is returned', async () => {
    const { idTokenClaims } = await authenticateBy({ loginHint: 'bob' })
    expect(idTokenClaims.sub).toBe('dev|bob')
    expect(hints()).toEqual([{ login_hint: 'bob' }])
  })

  test('is sent unchanged as a hint token', async () => {
    const { idTokenClaims } = await authenticateBy({ loginHintToken: 'bob' })
    expect(idTokenClaims.sub).toBe('dev|bob')
    expect(hints()).toEqual([{ login_hint_token: 'bob' }])
  })

  test('is sent unchanged as an ID token, and the new ID token must have the same subject', async () => {
    const { tokenSet } = await authenticate()
    realm.provider.clearRequests()
    const { idToken = '' } = tokenSet
    expect((await authenticateBy({ idTokenHint: idToken })).idTokenClaims.sub).toBe(SUB)
    expect(hints()).toEqual([{ id_token_hint: idToken }])
    const stop = realm.provider.tamperIdToken((claims) => {
      claims.sub = 'dev|bob'
    })
    const error = await rejectionOf(authenticateBy({ idTokenHint: idToken }))
    stop()
    expect(error).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { code: 'ID_TOKEN_INVALID' },
    })
  })
})

describe('the request', () => {
  test('[S191,S192,S193,S194,S257] the user approves, and tokens and claims are returned', async () => {
    const result = await authenticate()
    expect(result).toEqual({
      tokenSet: {
        accessToken: expect.any(String),
        idToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(Number),
        scope: expect.stringContaining('openid'),
        requestedScope: 'openid profile email offline_access',
        token_type: 'Bearer',
      },
      idTokenClaims: expect.objectContaining({ sub: SUB, iss: realm.provider.issuer }),
    })
    expect(started()).toEqual([
      {
        scope: 'openid profile email offline_access',
        binding_message: 'Order 42',
        requested_expiry: '300',
        login_hint: JSON.stringify({ format: 'iss_sub', iss: realm.provider.issuer, sub: SUB }),
        client_id: realm.provider.clientId,
      },
    ])
  })

  test('the longest expiry is a day, and details that are null are absent', async () => {
    await authenticate({ requestedExpiry: 86_400, authorizationDetails: null as never })
    expect(started()[0]).toMatchObject({ requested_expiry: '86400' })
    expect(started()[0]).not.toHaveProperty('authorization_details')
  })

  test('expiry, parameters and details are sent; parameters of the browser or the library are dropped', async () => {
    await authenticate(
      {
        requestedExpiry: 60,
        authorizationParams: {
          audience: 'https://api.example.test/',
          scope: 'openid read:things',
          acr_values: 'loa2',
          login_hint: 'mallory',
          id_token_hint: 'x',
          client_id: 'other',
          redirect_uri: 'http://localhost:3000/x',
          response_type: 'token',
          state: 's',
          requested_expiry: 9,
          binding_message: 'Order 43',
          login_hint_token: 'x',
          grant_type: 'password',
          request: 'x',
          request_uri: 'https://evil.example/request',
          dpop_jkt: 'x',
        },
        authorizationDetails: [{ type: 'payment', amount: '5.00' }],
      },
      { authorizationParameters: { ui_locales: 'de', response_mode: 'query' } },
    )
    const [body = {}] = started()
    expect(body).toMatchObject({
      requested_expiry: '60',
      audience: 'https://api.example.test/',
      scope: 'openid read:things',
      acr_values: 'loa2',
      ui_locales: 'de',
      client_id: realm.provider.clientId,
      login_hint: expect.stringContaining('dev|alice'),
      authorization_details: '[{"type":"payment","amount":"5.00"}]',
    })
    expect(body).toMatchObject({ binding_message: expect.not.stringContaining('43') })
    for (const name of [
      'id_token_hint',
      'login_hint_token',
      'redirect_uri',
      'response_type',
      'response_mode',
      'grant_type',
      'request',
      'request_uri',
      'dpop_jkt',
      'state',
    ]) {
      expect(body).not.toHaveProperty(name)
    }
  })

  test('granted details are returned', async () => {
    const details = [{ type: 'payment', amount: '5.00' }]
    const result = await authenticate({ authorizationDetails: details })
    expect(result.authorizationDetails).toEqual(details)
    expect(result.tokenSet.authorizationDetails).toEqual(details)
    realm.provider.settings.grantedDetails = 'other'
    const other = await authenticate({ authorizationDetails: details })
    realm.provider.settings.grantedDetails = 'requested'
    expect(other.authorizationDetails).toEqual([{ type: 'payment', identifier: 'not-requested' }])
  })

  test.each([
    [{ bindingMessage: '' }, /bindingMessage/],
    [{ bindingMessage: undefined }, /bindingMessage/],
    [{ bindingMessage: '   ' }, /bindingMessage/],
    [{ loginHint: undefined }, /loginHint.sub/],
    [{ loginHint: { sub: '' } }, /loginHint.sub/],
    [{ loginHint: { sub: 7 } }, /loginHint.sub/],
    [{ loginHint: ' ' }, /loginHint.sub/],
    [{ loginHint: null }, /loginHint.sub/],
    [{ loginHintToken: 'token' }, /loginHint, loginHintToken \(exactly one of these\)/],
    [{ idTokenHint: 'e30.e30.AAAA' }, /loginHint, idTokenHint \(exactly one of these\)/],
    [{ loginHint: undefined, loginHintToken: 't', idTokenHint: 'i' }, /loginHintToken, idTokenHint/],
    [{ loginHint: undefined, loginHintToken: '' }, /loginHintToken/],
    [{ loginHint: undefined, loginHintToken: 7 }, /loginHintToken/],
    [{ loginHint: null, loginHintToken: ' ' }, /: loginHintToken \(a non-blank string\)/],
    [{ loginHint: undefined, idTokenHint: 'garbage' }, /idTokenHint/],
    [{ loginHint: undefined, idTokenHint: 'e30.e30.AAAA' }, /idTokenHint/],
    [{ loginHint: undefined, idTokenHint: 7 }, /idTokenHint/],
    [{ requestedExpiry: 0 }, /requestedExpiry/],
    [{ requestedExpiry: -5 }, /requestedExpiry/],
    [{ requestedExpiry: 1.5 }, /requestedExpiry/],
    [{ requestedExpiry: 86_401 }, /requestedExpiry/],
    [{ requestedExpiry: '300' }, /requestedExpiry/],
    [{ authorizationDetails: 'x' }, /authorizationDetails/],
    [{ authorizationDetails: [{}] }, /authorizationDetails/],
    [{ authorizationDetails: [null] }, /authorizationDetails/],
    [{ authorizationParams: { scope: 'profile' } }, /openid/],
    [{ authorizationParams: 'openid' }, /authorizationParams/],
    [{ authorizationParams: ['openid'] }, /authorizationParams/],
  ])('[B7] %j is rejected before any request', async (options, why) => {
    const error = await rejectionOf(authenticate(options as never))
    expect(error).toMatchObject({
      name: 'BackchannelAuthenticationError',
      code: 'INVALID_BACKCHANNEL_REQUEST',
      message: expect.stringMatching(why),
    })
    expect(realm.provider.requests()).toEqual([])
  })
})

describe('[S219] waiting for the user', () => {
  test('the user approves while it polls; pending polls are not logged as failures', async () => {
    realm.provider.settings.cibaAutoApprove = false
    const result = authenticate()
    const { authReqId, bindingMessage } = await pending()
    expect(bindingMessage).toBe('Order 42')
    await polled()
    await realm.provider.ciba.approve(authReqId)
    expect((await result).idTokenClaims.sub).toBe(SUB)
    const statuses = realm.provider.requests('token').map(({ status }) => status)
    expect([...new Set(statuses)]).toEqual([400, 200])
    expect(realm.provider.requests('token')[0]?.body).toMatchObject({
      grant_type: 'urn:openid:params:grant-type:ciba',
      auth_req_id: authReqId,
    })
    expect(realm.events).toEqual([])
  })

  test('the user denies', async () => {
    realm.provider.settings.cibaAutoApprove = false
    const result = rejectionOf(authenticate())
    await realm.provider.ciba.deny((await pending()).authReqId)
    expect(await result).toMatchObject({
      name: 'BackchannelAuthenticationError',
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { name: 'OAuthError', error: 'access_denied' },
    })
  })

  test('the user does not respond in time', async () => {
    realm.provider.settings.cibaAutoApprove = false
    realm.provider.settings.cibaInterval = 0.6
    const error = await rejectionOf(authenticate({ requestedExpiry: 1 }))
    expect(error).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { error: 'expired_token' },
    })
    expect(realm.provider.count('token')).toBe(1)
  })

  test.each(['expired_token', 'transaction_failed', 'invalid_grant', 'invalid_request'])(
    '%s ends it immediately',
    async (error) => {
      respondWith(400, { error })
      expect(await rejectionOf(authenticate())).toMatchObject({ cause: { error } })
      expect(realm.provider.count('token')).toBe(1)
    },
  )

  test('the caller aborts while it waits, or before the first request', async () => {
    realm.provider.settings.cibaAutoApprove = false
    const controller = new AbortController()
    const result = rejectionOf(authenticate({ signal: controller.signal }))
    const { authReqId } = await pending()
    controller.abort('enough')
    const expected = { code: 'BACKCHANNEL_AUTHENTICATION_ABORTED', cause: 'enough' }
    expect(await result).toMatchObject(expected)
    realm.provider.clearRequests()
    expect(await rejectionOf(authenticate({ signal: controller.signal }))).toMatchObject(expected)
    expect(realm.provider.requests()).toEqual([])
    await realm.provider.ciba.deny(authReqId)
  })

  test('the caller aborts while a request is pending', async () => {
    realm.provider.faults.set('token', { kind: 'hang' })
    const controller = new AbortController()
    const result = rejectionOf(authenticate({ signal: controller.signal }))
    await polled()
    controller.abort()
    expect(await result).toMatchObject({ code: 'BACKCHANNEL_AUTHENTICATION_ABORTED' })
  })
})

describe('failures of the provider', () => {
  test('the provider does not support backchannel authentication', async () => {
    const other = await startRealm()
    other.provider.rewrite('discovery', (json) => {
      const { backchannel_authentication_endpoint: _gone, ...rest } = json
      return rest
    })
    const options = { bindingMessage: 'm', loginHint: { sub: SUB } }
    const error = await rejectionOf(backchannelAuthentication(other.engine(), options))
    expect(other.provider.count('backchannelAuthentication')).toBe(0)
    await other.provider.stop()
    expect(error).toMatchObject({
      name: 'BackchannelAuthenticationError',
      code: 'BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR',
    })
  })

  test('an unknown user is rejected, without polling', async () => {
    const error = await rejectionOf(authenticate({ loginHint: { sub: 'dev|nobody' } }))
    expect(error).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { error: 'unknown_user_id' },
    })
    expect(realm.provider.count('token')).toBe(0)
  })

  test.each([
    [{ expires_in: 60 }],
    [{ auth_req_id: 'a' }],
    [{ auth_req_id: 'a', expires_in: 'soon' }],
    [{ auth_req_id: 7, expires_in: 60 }],
    [{ auth_req_id: '', expires_in: 60 }],
    [null],
  ])('[M4] the first response is %j: a typed error, without polling', async (body) => {
    realm.provider.faults.set('backchannelAuthentication', {
      kind: 'respond',
      status: 200,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
    expect(await rejectionOf(authenticate())).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { code: 'RESPONSE_INVALID' },
    })
    expect(realm.provider.count('token')).toBe(0)
  })

  test.each(['hang', 'reset', 'truncate'] as const)(
    'the first request ends with %s: one request',
    async (kind) => {
      realm.provider.faults.set('backchannelAuthentication', { kind })
      const result = rejectionOf(authenticate({}, { httpTimeout: toTimeout({ kind }) }))
      expect(await result).toMatchObject({ code: 'BACKCHANNEL_AUTHENTICATION_ERROR' })
      expect(realm.provider.count('backchannelAuthentication')).toBe(1)
      expect(realm.provider.count('token')).toBe(0)
    },
  )

  test.each([
    ['reset', { kind: 'reset' }],
    ['time-out', { kind: 'hang' }],
    ['503', { kind: 'respond', status: 503 }],
    [
      '502 HTML',
      { kind: 'respond', status: 502, body: '<h1>x</h1>', headers: { 'content-type': 'text/html' } },
    ],
  ] as const)('a poll ends with %s: the next one returns the tokens', async (_name, fault) => {
    realm.provider.faults.set('token', fault, { times: 1 })
    const { idTokenClaims } = await authenticate({}, { httpTimeout: toTimeout(fault) })
    expect(idTokenClaims.sub).toBe(SUB)
    expect(realm.provider.count('token')).toBe(2)
    expect(realm.events).toMatchObject([{ code: 'PROVIDER_FAILURE', endpoint: 'token' }])
  })

  test.each([
    ['for another user', (claims: Record<string, unknown>) => Object.assign(claims, { sub: 'dev|mallory' })],
    ['for another client', (claims: Record<string, unknown>) => Object.assign(claims, { aud: 'other' })],
  ])('an ID token %s is rejected', async (_whom, change) => {
    const stop = realm.provider.tamperIdToken((claims) => void change(claims))
    const error = await rejectionOf(authenticate())
    stop()
    expect(error).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ERROR',
      cause: { code: 'ID_TOKEN_INVALID' },
    })
  })

  test('a response without an ID token is rejected', async () => {
    const stop = realm.provider.rewrite('token', (json) => ({ ...json, id_token: undefined }))
    const error = await rejectionOf(authenticate())
    stop()
    expect(error).toMatchObject({ cause: { code: 'RESPONSE_INVALID' } })
  })
})
