import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Code, CodesOf } from './code.ts'
import { codesByClass } from './code.ts'
import * as entry from './index.ts'
import {
  AccessTokenError,
  AccessTokenForConnectionError,
  AccountApiError,
  BackchannelAuthenticationError,
  CallbackError,
  ConnectAccountError,
  ConnectedAccountsError,
  CustomTokenExchangeError,
  codes,
  DiscoveryError,
  IdpError,
  InvalidConfigurationError,
  isIdpError,
  LogoutTokenError,
  MfaError,
  MfaRequiredError,
  OAuthError,
  SessionStoreError,
} from './index.ts'
import { remedies } from './remedies.ts'

const classes = {
  AccessTokenError,
  AccessTokenForConnectionError,
  AccountApiError,
  BackchannelAuthenticationError,
  CallbackError,
  ConnectAccountError,
  ConnectedAccountsError,
  CustomTokenExchangeError,
  DiscoveryError,
  IdpError,
  InvalidConfigurationError,
  LogoutTokenError,
  MfaError,
  MfaRequiredError,
  OAuthError,
  SessionStoreError,
}

describe('the table of codes', () => {
  test.each(Object.entries(codes))('%s has a message, a fix and a status', (code, row) => {
    expect(code).toMatch(/^[A-Z][A-Z_]*[A-Z]$/)
    expect(row.message).toMatch(/\.$/)
    expect(remedies[code as Code]).toMatch(/\.$/)
    expect(row.status).toBeGreaterThanOrEqual(400)
    expect(row.status).toBeLessThan(600)
  })
})

describe('IdpError', () => {
  test('has the sentence of its code and its fix', () => {
    const { message } = new IdpError('INTERNAL_ERROR')
    expect(message).toBe(`${codes.INTERNAL_ERROR.message} ${remedies.INTERNAL_ERROR}`)
  })

  test('keeps its cause unchanged, and has no cause without one', () => {
    const cause = { odd: true }
    expect(new IdpError('INTERNAL_ERROR', { cause }).cause).toBe(cause)
    expect('cause' in new IdpError('INTERNAL_ERROR')).toBe(false)
    expect('cause' in new IdpError('INTERNAL_ERROR', { cause: undefined })).toBe(true)
  })

  test.each(
    Object.entries({
      AccessTokenError: new AccessTokenError('MISSING_SESSION'),
      AccessTokenForConnectionError: new AccessTokenForConnectionError('MISSING_SESSION'),
      AccountApiError: new AccountApiError({ providerStatus: 400 }),
      BackchannelAuthenticationError: new BackchannelAuthenticationError('BACKCHANNEL_AUTHENTICATION_ERROR'),
      CallbackError: new CallbackError('MISSING_STATE'),
      ConnectAccountError: new ConnectAccountError('MISSING_SESSION'),
      ConnectedAccountsError: new ConnectedAccountsError('MISSING_SESSION'),
      CustomTokenExchangeError: new CustomTokenExchangeError('EXCHANGE_FAILED'),
      DiscoveryError: new DiscoveryError('DISCOVERY_ERROR'),
      InvalidConfigurationError: new InvalidConfigurationError('INVALID_CONFIGURATION'),
      LogoutTokenError: new LogoutTokenError('BACKCHANNEL_LOGOUT_ERROR'),
      MfaError: new MfaError('MISSING_SESSION'),
      MfaRequiredError: new MfaRequiredError({ mfaToken: 'sealed' }),
      OAuthError: new OAuthError('OAUTH_ERROR'),
      SessionStoreError: new SessionStoreError('SESSION_TOO_LARGE', { bytes: 1, fields: {} }),
    }),
  )('[S243,S245] %s is exported, is an Error and an IdpError, and has its name', (name, error) => {
    expect(entry).toHaveProperty(name)
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(IdpError)
    expect(error.name).toBe(name)
    expect(error.stack).toContain(name)
    expect(isIdpError(error)).toBe(true)
  })
})

test('[S243] a request without a session gets the specified code', () => {
  for (const Class of [AccessTokenError, AccessTokenForConnectionError, ConnectAccountError]) {
    expect(new Class('MISSING_SESSION').code).toBe('MISSING_SESSION')
  }
})

test('[S244] MfaRequiredError contains the token unchanged, and its JSON is flat', () => {
  const requirements = { challenge: [{ type: 'otp' }] }
  const error = new MfaRequiredError({ mfaToken: 'sealed', requirements })
  const body = {
    error: 'mfa_required',
    error_description: codes.MFA_REQUIRED.message,
    mfa_token: 'sealed',
    mfa_requirements: requirements,
  }
  expect(error).toMatchObject({ code: 'MFA_REQUIRED', ...body })
  expect(JSON.parse(JSON.stringify(error))).toEqual(body)
  expect(new MfaRequiredError({ mfaToken: '' }).toJSON()).not.toHaveProperty('mfa_requirements')
})

describe('isIdpError', () => {
  test('recognizes errors of another copy of the package, by brand and code', () => {
    class Foreign extends Error {
      code = 'MISSING_STATE'
    }
    const foreign = Object.defineProperty(new Foreign('x'), Symbol.for('idp-client.error'), { value: true })
    expect(isIdpError(foreign)).toBe(true)
    expect(isIdpError(foreign, 'MISSING_STATE')).toBe(true)
    expect(isIdpError(foreign, 'UNKNOWN_STATE')).toBe(false)
  })

  test.each([undefined, null, 'MISSING_STATE', new Error('x'), { code: 'MISSING_STATE' }, () => 1])(
    '%s is not an error of the library',
    (value) => {
      expect(isIdpError(value)).toBe(false)
      expect(isIdpError(value, 'MISSING_STATE')).toBe(false)
    },
  )

  test('the brand does not appear in logs or copies', () => {
    const error = new IdpError('INTERNAL_ERROR')
    expect(Object.getOwnPropertySymbols({ ...error })).toEqual([])
    expect(JSON.stringify(error)).toBe(
      JSON.stringify({ name: 'IdpError', code: 'INTERNAL_ERROR', remedy: 'INTERNAL_ERROR' }),
    )
  })
})

test.each([
  [
    entry.AccessTokenErrorCode,
    [
      'FAILED_TO_REFRESH_TOKEN',
      'FAILED_TO_REVOKE',
      'MISSING_REFRESH_TOKEN',
      'MISSING_SESSION',
      'REFRESH_NOT_PERSISTABLE',
      'SESSION_EXPIRED',
    ],
  ],
  [
    entry.AccessTokenForConnectionErrorCode,
    ['FAILED_TO_EXCHANGE_REFRESH_TOKEN', 'MISSING_CONNECTION', 'MISSING_REFRESH_TOKEN', 'MISSING_SESSION'],
  ],
  [
    entry.BackchannelAuthenticationErrorCode,
    [
      'BACKCHANNEL_AUTHENTICATION_ABORTED',
      'BACKCHANNEL_AUTHENTICATION_ERROR',
      'BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR',
      'INVALID_BACKCHANNEL_REQUEST',
    ],
  ],
  [
    entry.ConnectAccountErrorCode,
    ['FAILED_TO_COMPLETE', 'FAILED_TO_INITIATE', 'MISSING_CONNECTION', 'MISSING_SESSION'],
  ],
  [
    entry.CustomTokenExchangeErrorCode,
    [
      'EXCHANGE_FAILED',
      'INVALID_ACTOR_TOKEN_TYPE',
      'INVALID_SUBJECT_TOKEN_TYPE',
      'MISSING_ACTOR_TOKEN',
      'MISSING_ACTOR_TOKEN_TYPE',
      'MISSING_SUBJECT_TOKEN',
      'RESERVED_PARAMETER',
    ],
  ],
  [entry.SessionStoreErrorCode, ['SESSION_STORE_FAILED', 'SESSION_STORE_UNSUPPORTED', 'SESSION_TOO_LARGE']],
])('%j has exactly the codes of its class', (constants, expected) => {
  for (const [key, value] of Object.entries(constants)) expect(value).toBe(key)
  expect(Object.keys(constants).sort()).toEqual(expected)
})

test('every code belongs to existing classes, to each of them once', () => {
  expect(Object.keys(codesByClass).sort()).toEqual(Object.keys(classes).sort())
  for (const names of Object.values<readonly Code[]>(codesByClass))
    expect(new Set(names).size).toBe(names.length)
  expect(new Set(Object.values<readonly Code[]>(codesByClass).flat())).toEqual(new Set(Object.keys(codes)))
})

test('a class has the codes of its union, including codes of other classes', () => {
  expectTypeOf<ConnectedAccountsError['code']>().toEqualTypeOf<
    'MISSING_SESSION' | 'FAILED_TO_LIST' | 'FAILED_TO_DELETE'
  >()
  expectTypeOf<CodesOf<'AccountApiError'>>().toEqualTypeOf<'MY_ACCOUNT_API_ERROR'>()
  expectTypeOf<DiscoveryError['code']>().toEqualTypeOf<
    'DISCOVERY_ERROR' | 'DISCOVERY_TIMEOUT' | 'JWKS_ERROR'
  >()
})

describe('OAuthError', () => {
  test('has the values of the provider in its properties, not in its message', () => {
    const error = new OAuthError('OAUTH_ERROR', {
      error: 'invalid_grant',
      description: '<script>',
      providerStatus: 400,
      retryAfter: 3,
    })
    expect(error).toMatchObject({
      error: 'invalid_grant',
      description: '<script>',
      providerStatus: 400,
      retryAfter: 3,
    })
    expect(error.message).toBe(`${codes.OAUTH_ERROR.message} ${remedies.OAUTH_ERROR}`)
  })

  test.each([
    ['REQUEST_FAILED', undefined, true],
    ['REQUEST_TIMEOUT', undefined, true],
    ['OAUTH_ERROR', 429, true],
    ['OAUTH_ERROR', 503, true],
    ['OAUTH_ERROR', 400, false],
    ['OAUTH_ERROR', undefined, false],
    ['RESPONSE_INVALID', 200, false],
    ['ID_TOKEN_INVALID', undefined, false],
  ] as const)('%s with status %s: transient is %s', (code, providerStatus, transient) => {
    const error = new OAuthError(code, providerStatus === undefined ? {} : { providerStatus })
    expect(error.transient).toBe(transient)
  })
})

test('SessionStoreError contains the bytes per field', () => {
  const error = new SessionStoreError('SESSION_TOO_LARGE', {
    bytes: 9000,
    fields: { user: 8000, tokenSet: 900 },
  })
  expect(error).toMatchObject({
    code: 'SESSION_TOO_LARGE',
    bytes: 9000,
    fields: { user: 8000, tokenSet: 900 },
  })
})

test('[L5] tokens that could not be saved: the message says where they can', () => {
  expect(new AccessTokenError('REFRESH_NOT_PERSISTABLE').message).toMatch(/in the proxy or middleware/)
})
