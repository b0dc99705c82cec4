import { inspect } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { describe as describeError, diagnose } from './diagnosis.ts'
import type { IdpError } from './index.ts'
import {
  AccessTokenError,
  AccountApiError,
  CallbackError,
  codes,
  DiscoveryError,
  InvalidConfigurationError,
  isIdpError,
  OAuthError,
  SessionStoreError,
} from './index.ts'
import { remedies } from './remedies.ts'

afterEach(() => vi.unstubAllEnvs())

const URL_OF_PROVIDER = 'https://id.internal.example/.well-known/openid-configuration'
const FACTS = [
  URL_OF_PROVIDER,
  'ECONNREFUSED',
  'words of the provider',
  'https://app.example.com/roles',
  '08006',
]

const unreachable = (): DiscoveryError =>
  new DiscoveryError('DISCOVERY_ERROR', {
    detail: `Requested: ${URL_OF_PROVIDER}. Nothing accepts connections (ECONNREFUSED).`,
    remedy: 'CONNECTION_REFUSED',
    systemCode: 'ECONNREFUSED',
    url: URL_OF_PROVIDER,
  })

const errors: Readonly<Record<string, () => IdpError>> = {
  DiscoveryError: unreachable,
  AccessTokenError: () => new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause: unreachable() }),
  OAuthError: () =>
    new OAuthError('OAUTH_ERROR', {
      description: 'words of the provider',
      detail: `Sent to ${URL_OF_PROVIDER}.`,
    }),
  AccountApiError: () =>
    new AccountApiError({
      providerStatus: 404,
      title: 'words of the provider',
      detail: 'words of the provider',
    }),
  SessionStoreError: () =>
    new SessionStoreError('SESSION_STORE_FAILED', {
      operation: 'get',
      reason: '08006',
      fields: { 'https://app.example.com/roles': 9000 },
    }),
  'SessionStoreError with the error of a driver': () =>
    new SessionStoreError('SESSION_STORE_FAILED', {
      operation: 'get',
      cause: new Error('connect https://app.example.com/roles', { cause: new Error('08006') }),
    }),
  InvalidConfigurationError: () =>
    new InvalidConfigurationError('BASE_URL_NOT_ALLOWED', {
      detail: 'Allowed: https://app.example.com/roles.',
    }),
}

/** All own properties, not only enumerable ones, as seroval sends them to a browser. */
function ownValues(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.getOwnPropertyNames(value).flatMap((name) => [name, ...ownValues(Reflect.get(value, name))])
}

/** Returns what a log or a framework makes of an error without knowing the library. */
const serialize = (error: IdpError): string =>
  [...ownValues(error), String(error), JSON.stringify(error), JSON.stringify({ ...error })].join('\n')

describe.each(Object.entries(errors))('[N2] the message of %s', (_name, create) => {
  test.each(['production', '', 'staging'])('has constant sentences only with NODE_ENV %j', (nodeEnv) => {
    vi.stubEnv('NODE_ENV', nodeEnv)
    const error = create()
    for (const fact of FACTS) expect(serialize(error)).not.toContain(fact)
    expect(error.message).toContain(codes[error.code].message)
    expect(error.message).toContain(remedies[error.remedy])
  })

  test.each(['development', 'test'])('also has the facts with NODE_ENV %s', (nodeEnv) => {
    vi.stubEnv('NODE_ENV', 'production')
    const { message } = create()
    vi.stubEnv('NODE_ENV', nodeEnv)
    const error = create()
    expect(error.message.startsWith(message)).toBe(true)
    const { detail } = error instanceof AccountApiError ? {} : error
    expect(error.message).toContain(detail ?? '')
  })

  test('is independent of NODE_ENV in what util.inspect and the log show', () => {
    vi.stubEnv('NODE_ENV', 'production')
    const error = create()
    const seen = inspect(error)
    for (const name of [
      'detail',
      'url',
      'systemCode',
      'description',
      'title',
      'reason',
      'fields',
      'code',
      'remedy',
    ]) {
      if (Reflect.get(error, name) !== undefined) expect(seen).toContain(`${name}: `)
    }
    expect(seen).toContain(error.message)
    if (isIdpError(error.cause)) expect(seen).toContain(`url: '${URL_OF_PROVIDER}'`)
    else if (error.cause instanceof Error) expect(seen).toContain(`[cause]: Error: ${error.cause.message}`)
    const { detail } = diagnose(error)
    vi.stubEnv('NODE_ENV', 'development')
    expect(diagnose(create()).detail).toBe(detail)
    expect(detail).toBe(describeError(error))
  })
})

test('[N2] a message contains the sentences and fixes of its causes, a common fix once', () => {
  vi.stubEnv('NODE_ENV', 'production')
  const { message } = errors['AccessTokenError']?.() ?? {}
  expect(message).toBe(
    `${codes.FAILED_TO_REFRESH_TOKEN.message} ${codes.DISCOVERY_ERROR.message} ${remedies.CONNECTION_REFUSED}`,
  )
  const cause = new OAuthError('OAUTH_ERROR', { error: 'access_denied' })
  expect(new CallbackError('AUTHORIZATION_ERROR', { cause }).message).toBe(
    `${codes.AUTHORIZATION_ERROR.message} ${remedies.AUTHORIZATION_ERROR} ${codes.OAUTH_ERROR.message} ${remedies.OAUTH_ERROR}`,
  )
})

test('[N2] an error thrown while the application starts has its facts in the message, also in production', () => {
  vi.stubEnv('NODE_ENV', 'production')
  const options = { detail: 'domain has to be a string.', atConstruction: true }
  const { message } = new InvalidConfigurationError('INVALID_CONFIGURATION', options)
  expect(message).toMatch(/ domain has to be a string\.$/)
})

describe('[M7] status is the one of the application', () => {
  test.each([
    [new DiscoveryError('DISCOVERY_ERROR', { providerStatus: 404 }), 502],
    [new DiscoveryError('DISCOVERY_TIMEOUT'), 504],
    [new OAuthError('REQUEST_FAILED'), 502],
    [new OAuthError('REQUEST_TIMEOUT'), 504],
    [new OAuthError('RESPONSE_INVALID', { providerStatus: 500 }), 502],
    [new OAuthError('OAUTH_ERROR', { providerStatus: 429 }), 503],
    [new AccountApiError({ providerStatus: 503 }), 503],
    [new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause: unreachable() }), 502],
  ])('%s while the provider is down: %i', (error, status) => {
    expect(error.status).toBe(status)
  })

  test.each([
    new OAuthError('OAUTH_ERROR', { providerStatus: 401 }),
    new OAuthError('RESPONSE_INVALID', { providerStatus: 404 }),
    new AccountApiError({ providerStatus: 404 }),
    new AccessTokenError('MISSING_SESSION'),
  ])('%s has none, so that a framework responds with 500', (error) => {
    expect('status' in error).toBe(false)
    expect('statusCode' in error).toBe(false)
  })
})

test('an error of another copy of the package, with a remedy that this one does not have, gets that of its code', () => {
  const error = Object.assign(new AccessTokenError('FAILED_TO_REFRESH_TOKEN'), { remedy: 'NEW_REMEDY' })
  expect(diagnose(error)).toMatchObject({
    remedy: 'FAILED_TO_REFRESH_TOKEN',
    advice: remedies.FAILED_TO_REFRESH_TOKEN,
  })
})
