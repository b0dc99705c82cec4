import { describe, expect, test } from 'vitest'
import { DiscoveryError, isInvalidGrant, OAuthError } from '../errors/provider.ts'
import {
  discoveryError,
  oauthError,
  redirectUriSent,
  refusal,
  refusalIn,
  tokenRefusal,
  unexpectedStatus,
  unusableDocument,
} from './translate.ts'
import { TransportError, toTransportError } from './transport-error.ts'

describe('errors of the transport', () => {
  test.each([
    ['timeout', 'REQUEST_TIMEOUT', true],
    ['network', 'REQUEST_FAILED', true],
    ['blocked-port', 'REQUEST_FAILED', true],
    ['dispatcher', 'REQUEST_FAILED', true],
    ['aborted', 'REQUEST_FAILED', true],
    ['too-large', 'RESPONSE_INVALID', false],
    ['redirect', 'RESPONSE_INVALID', false],
    ['forbidden', 'RESPONSE_INVALID', false],
  ] as const)('%s becomes %s, transient: %s', (kind, code, transient) => {
    const fault = new TransportError(kind)
    expect(oauthError(fault)).toMatchObject({ code, transient, cause: fault })
    const expected = kind === 'timeout' ? 'DISCOVERY_TIMEOUT' : 'DISCOVERY_ERROR'
    expect(discoveryError({ endpoint: 'discovery' }, fault)).toMatchObject({ code: expected, cause: fault })
    expect(discoveryError({ endpoint: 'jwks' }, fault)).toMatchObject({ code: 'JWKS_ERROR', cause: fault })
  })

  test("keep only the system's code or the name of a foreign error", () => {
    const cause = Object.assign(new Error('token=secret'), { code: 'ECONNRESET', data: 'secret' })
    expect(toTransportError(new TypeError('fetch failed', { cause }))).toMatchObject({
      systemCode: 'ECONNRESET',
    })
    const odd = toTransportError(
      Object.assign(new SyntaxError('"secret" is not JSON'), { code: 'not a code: secret' }),
    )
    expect(odd.systemCode).toBe('SyntaxError')
    expect(odd.message).not.toContain('secret')
    expect(odd.cause).toBeUndefined()
    expect(toTransportError('text').systemCode).toBeUndefined()
  })

  test('a cyclic cause terminates', () => {
    const circular = new Error('a')
    circular.cause = circular
    expect(toTransportError(circular).systemCode).toBe('Error')
  })
})

describe('responses', () => {
  const response = (status: number, body: Record<string, unknown> | null, retryAfter?: number) => ({
    status,
    body,
    retryAfter,
  })

  test.each([
    [400, 'invalid_grant', false],
    [429, 'slow_down', true],
    [503, 'temporarily_unavailable', true],
  ])('%i %s: transient is %s', (status, error, transient) => {
    expect(refusalIn(response(status, { error }, 5))).toMatchObject({
      code: 'OAUTH_ERROR',
      providerStatus: status,
      error,
      transient,
      retryAfter: 5,
    })
  })

  test.each([
    [502, null, true, 'PROVIDER_UNAVAILABLE'],
    [404, null, false, 'RESPONSE_NOT_OAUTH'],
    [400, { error: 7 }, false, 'RESPONSE_INVALID'],
    [400, { error: '' }, false, 'RESPONSE_INVALID'],
  ])('%i without an OAuth error is an invalid response', (status, body, transient, remedy) => {
    expect(refusalIn(response(status, body))).toBeUndefined()
    expect(unexpectedStatus(response(status, body))).toMatchObject({
      code: 'RESPONSE_INVALID',
      providerStatus: status,
      transient,
      remedy,
    })
  })

  test('Okta names an unknown client by errorCode', () => {
    const body = { errorCode: 'invalid_client', errorSummary: 'Invalid value.' }
    expect(refusalIn(response(401, body))?.error).toBe('invalid_client')
  })

  test.each([
    ['Ory Hydra', 401, { error: 'token_inactive' }, true],
    ['Entra ID', 400, { error: 'invalid_grant', suberror: 'bad_token' }, true],
    ['Entra ID', 400, { error: 'invalid_grant', suberror: 'consent_required' }, false],
    ['Entra ID', 400, { error: 'invalid_grant', suberror: 'basic_action' }, false],
    ['Entra ID', 400, { error: 'invalid_grant', suberror: 'additional_action' }, false],
  ])('whether %s has ended a grant by %i %j: %s', (_provider, status, body, hasEnded) => {
    const refused = refusalIn(response(status, body))
    expect(refused?.error).toBe(body.error)
    expect(isInvalidGrant(refused)).toBe(hasEnded)
  })

  test('errors of oauth4webapi are kept as their code only', () => {
    const inner = Object.assign(new Error('"response" body'), {
      code: 'OAUTH_NEW_CODE',
      cause: { body: { access_token: 'secret' } },
    })
    const translated = oauthError(inner)
    expect(translated.message).toContain('OAUTH_NEW_CODE')
    expect(translated.cause).toBeUndefined()
    for (const thrown of [null, undefined, 'secret', new Error('secret')])
      expect(oauthError(thrown).message).toMatch(/It could not be processed\.$/)
  })

  test('strings of the provider are truncated and have no control characters', () => {
    const { description, error } = refusal({
      error: `no"\\${'e'.repeat(300)}`,
      description: `line\r\nline\u0000${'d'.repeat(900)}`,
    })
    expect(error).toBe(`no${'e'.repeat(98)}`)
    expect(description).toMatch(/^line {2}line d+$/)
    expect(description).toHaveLength(500)
    expect(refusal({ error: 'access_denied', description: '' })).toMatchObject({ description: undefined })
  })
})

test('errors of the library are unchanged', () => {
  const own = new OAuthError('RESPONSE_INVALID')
  expect(oauthError(own)).toBe(own)
  const discovery = new DiscoveryError('JWKS_ERROR')
  expect(discoveryError({ endpoint: 'discovery' }, discovery)).toBe(discovery)
})

/* Errors of the runtime for connections that fail, and the name of an unknown one. */
test.each([
  ['ENOTFOUND', 'UNKNOWN_HOST'],
  ['EAI_AGAIN', 'UNKNOWN_HOST'],
  ['ECONNREFUSED', 'CONNECTION_REFUSED'],
  ['EHOSTUNREACH', 'NETWORK_UNREACHABLE'],
  ['UND_ERR_CONNECT_TIMEOUT', 'PROVIDER_TIMEOUT'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERTIFICATE_NOT_TRUSTED'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'CERTIFICATE_NOT_TRUSTED'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERTIFICATE_NOT_TRUSTED'],
  ['CERT_HAS_EXPIRED', 'CERTIFICATE_EXPIRED'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERTIFICATE_HOST'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'NOT_TLS'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'CLIENT_CERTIFICATE_REFUSED'],
  ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'CLIENT_CERTIFICATE_REFUSED'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'CLIENT_CERTIFICATE_REFUSED'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'CLIENT_CERTIFICATE_REFUSED'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'CONNECTION_LOST'],
  ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'CONNECTION_LOST'],
  ['ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR', 'CONNECTION_LOST'],
  ['UND_ERR_SOCKET', 'CONNECTION_LOST'],
  ['SOMETHING_NEW', 'REQUEST_FAILED'],
])('[A1] %s has the remedy %s', (code, remedy) => {
  const fault = toTransportError(
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }),
  )
  const error = oauthError(fault)
  expect(error).toMatchObject({ code: 'REQUEST_FAILED', systemCode: code, remedy })
  expect(error.message).toContain(`(${code})`)
  const generic = remedy === 'REQUEST_FAILED' ? 'DISCOVERY_ERROR' : remedy
  const url = 'https://op.example/.well-known/openid-configuration'
  const discovery = discoveryError({ endpoint: 'discovery', url }, fault)
  expect(discovery).toMatchObject({ systemCode: code, remedy: generic, url, endpoint: 'discovery' })
  expect(discovery.message).toContain(url)
  expect(discoveryError({ endpoint: 'jwks' }, fault)).toMatchObject({ remedy: 'JWKS_ERROR', url: undefined })
})

test.each(['eyJhbGciOiJIUzI1NiJ9', 'SGVsbG8', 'a@b.example', 'AKIAIOSFODNN7EXAMPLE', 'X'.repeat(49), ''])(
  '[A1] %s is not a system code',
  (code) => {
    expect(toTransportError(Object.assign(new Error('x'), { code })).systemCode).toBe('Error')
  },
)

test.each([
  [200, 'DISCOVERY_NOT_JSON'],
  [404, 'DISCOVERY_NOT_FOUND'],
  [400, 'DISCOVERY_NOT_FOUND'],
  [429, 'RATE_LIMITED'],
  [503, 'PROVIDER_UNAVAILABLE'],
])('[A1] a discovery document with status %i has the remedy %s', (status, remedy) => {
  expect(unusableDocument({ endpoint: 'discovery' }, status)).toMatchObject({
    providerStatus: status,
    remedy,
  })
  expect(unusableDocument({ endpoint: 'jwks' }, status)).toMatchObject({
    providerStatus: status,
    remedy: 'JWKS_ERROR',
  })
})

describe("[A1] an error response has a remedy, and the provider's error code if it is registered", () => {
  const response = { status: 400, body: null, retryAfter: undefined }
  const retry = { delay: 0, jitter: false }
  const dpop = { enabled: false, keys: { kind: 'none' }, clockTolerance: 60, clockSkew: 0, retry } as const

  test.each([
    ['invalid_client', 'CLIENT_REFUSED'],
    ['unauthorized_client', 'CLIENT_NOT_ALLOWED'],
    ['invalid_scope', 'SCOPE_REFUSED'],
    ['invalid_target', 'AUDIENCE_REFUSED'],
    ['invalid_redirect_uri', 'REDIRECT_URI_REFUSED'],
    ['invalid_request', 'REQUEST_REFUSED'],
    ['use_dpop_nonce', 'DPOP_NONCE_REFUSED'],
    ['access_denied', 'OAUTH_ERROR'],
  ])('%s: %s', (error, remedy) => {
    const refused = refusal({ error, response })
    expect(refused.remedy).toBe(remedy)
    expect(refused.message).toContain(`It returned ${error} with HTTP status 400.`)
  })

  test('[N1] unauthorized_client with status 401 refuses the client, and tells how it authenticated', () => {
    const dpop = { enabled: false, keys: { kind: 'none' }, clockTolerance: 60, clockSkew: 0 } as const
    const client = {
      clientAuth: { kind: 'secret', secret: 'a secret' } as const,
      dpop: { ...dpop, retry: { delay: 0, jitter: false } },
      authentication: 'Sent: client_secret_basic; advertised: client_secret_basic.',
    }
    const refused = refusal({
      error: 'unauthorized_client',
      response: { ...response, status: 401 },
      client,
    })
    expect(refused.remedy).toBe('CLIENT_REFUSED')
    expect(refused.message).toContain('with HTTP status 401. Sent: client_secret_basic; advertised:')
    expect(refusal({ error: 'unauthorized_client', response, client }).message).not.toContain('Sent:')
    const status401 = { ...response, status: 401 }
    expect(refusal({ error: 'invalid_grant', response: status401, client }).remedy).toBe('OAUTH_ERROR')
    // An endpoint without client authentication.
    expect(refusal({ error: 'access_denied', response: status401 }).remedy).toBe('OAUTH_ERROR')
  })

  test('[N1] invalid_request with status 401, of a pushed request at Keycloak, refuses the client, not its redirect URI', () => {
    const client = { clientAuth: { kind: 'secret', secret: 'secret' }, dpop } as const
    const refused = refusal({ error: 'invalid_request', response: { ...response, status: 401 }, client })
    expect(refused.remedy).toBe('CLIENT_REFUSED')
    expect(redirectUriSent(refused, 'https://app.example.com/auth/callback')).toEqual({})
  })

  test('[N3] not_allowed, by which Keycloak refuses offline_access, is named and has a remedy', () => {
    const refused = refusal({ error: 'not_allowed', response })
    expect(refused.remedy).toBe('SCOPE_REFUSED')
    expect(refused.message).toContain('It returned not_allowed with HTTP status 400.')
  })

  test('an error code that is not registered is not repeated', () => {
    const refused = refusal({ error: 'alice-has-no-licence', description: 'Alice', response })
    expect(refused).toMatchObject({ error: 'alice-has-no-licence', remedy: 'OAUTH_ERROR' })
    expect(refused.message).not.toMatch(/alice/i)
  })

  test('the HTTP status takes precedence over the error code', () => {
    const busy = refusal({ error: 'invalid_client', response: { ...response, status: 503 } })
    expect(busy.remedy).toBe('PROVIDER_UNAVAILABLE')
  })

  test('the remedy differs for a client with a key and one without DPoP', () => {
    const key = { kind: 'assertion', key: 'pem', algorithms: ['ES256'], audience: 'issuer' } as const
    const client = { clientAuth: key, dpop }
    expect(refusal({ error: 'invalid_client', client, response }).remedy).toBe('CLIENT_ASSERTION_REFUSED')
    expect(refusal({ error: 'invalid_dpop_proof', client }).remedy).toBe('DPOP_REQUIRED')
    expect(refusal({ error: 'invalid_dpop_proof' }).remedy).toBe('DPOP_PROOF_REFUSED')
  })

  test('an invalid client in a redirect, for which no client authenticates, is an invalid request', () => {
    expect(refusal({ error: 'invalid_client' }).remedy).toBe('REQUEST_REFUSED')
  })

  test('UserInfo that refuses a proof of possession does not refuse the access token', () => {
    const refused = { ...response, status: 401, challenge: 'invalid_dpop_proof' }
    expect(tokenRefusal(refused)?.remedy).toBe('DPOP_PROOF_REFUSED')
    expect(tokenRefusal({ ...refused, challenge: undefined })?.remedy).toBe('USERINFO_TOKEN_REFUSED')
    expect(tokenRefusal({ ...response, status: 403 })?.remedy).toBe('USERINFO_TOKEN_REFUSED')
    expect(tokenRefusal(response)).toBeUndefined()
  })

  test('[A4] the error of a protected resource is read from its challenge', () => {
    const refused = refusalIn({ ...response, status: 401, challenge: 'invalid_token' })
    expect(refused).toMatchObject({ code: 'OAUTH_ERROR', error: 'invalid_token', providerStatus: 401 })
    const body = { errorCode: 'E0000011', errorSummary: 'Invalid token provided' }
    expect(refusalIn({ ...response, body, status: 401, challenge: 'invalid_token' })?.error).toBe(
      'invalid_token',
    )
    expect(tokenRefusal({ ...response, body, status: 401, challenge: 'use_dpop_nonce' })?.remedy).toBe(
      'DPOP_NONCE_REFUSED',
    )
    expect(refusalIn(response)).toBeUndefined()
  })
})
