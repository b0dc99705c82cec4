import { describe, expect, test } from 'vitest'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { DiscoveryError, OAuthError } from '../errors/provider.ts'
import type { LogEvent } from '../log/log.ts'
import {
  discoveryError,
  oauthError,
  originOf,
  refusal,
  reportFailure,
  retryAfterSeconds,
} from './translate.ts'
import { networkFault, WireFault } from './wire-fault.ts'

describe('the transport', () => {
  test.each([
    ['timeout', 'REQUEST_TIMEOUT', true],
    ['network', 'REQUEST_FAILED', true],
    ['aborted', 'REQUEST_FAILED', true],
    ['too-large', 'RESPONSE_INVALID', false],
    ['redirect', 'RESPONSE_INVALID', false],
    ['forbidden', 'RESPONSE_INVALID', false],
  ] as const)('%s becomes %s, transient: %s', (kind, code, transient) => {
    const fault = new WireFault(kind)
    expect(oauthError(fault)).toMatchObject({ code, transient, cause: fault })
    const expected = kind === 'timeout' ? 'DISCOVERY_TIMEOUT' : 'DISCOVERY_ERROR'
    expect(discoveryError('discovery', fault)).toMatchObject({ code: expected, cause: fault })
    expect(discoveryError('jwks', fault)).toMatchObject({ code: 'JWKS_ERROR', cause: fault })
  })

  test('of a foreign error only the code of the system, or its name, survives', () => {
    const cause = Object.assign(new Error('token=secret'), { code: 'ECONNRESET', data: 'secret' })
    expect(networkFault(new TypeError('fetch failed', { cause }))).toMatchObject({ systemCode: 'ECONNRESET' })
    const odd = networkFault(
      Object.assign(new SyntaxError('"secret" is not JSON'), { code: 'not a code: secret' }),
    )
    expect(odd.systemCode).toBe('SyntaxError')
    expect(odd.message).not.toContain('secret')
    expect(odd.cause).toBeUndefined()
    expect(networkFault('text').systemCode).toBeUndefined()
  })

  test('a cause that leads to itself ends', () => {
    const circular = new Error('a')
    circular.cause = circular
    expect(networkFault(circular).systemCode).toBe('Error')
    expect(originOf(circular)).toBe(circular)
  })
})

describe('answers', () => {
  const answer = (status: number, body: Record<string, unknown> | null, retryAfter?: number) => ({
    status,
    body,
    retryAfter,
  })

  test.each([
    [400, 'invalid_grant', false],
    [429, 'slow_down', true],
    [503, 'temporarily_unavailable', true],
  ])('%i %s: transient is %s', (status, error, transient) => {
    const translated = oauthError(new Error('x'), answer(status, { error }, 5))
    expect(translated).toMatchObject({ code: 'OAUTH_ERROR', status, error, transient, retryAfter: 5 })
  })

  test.each([
    [502, null, true],
    [404, null, false],
    [200, { error: 7 }, false],
    [200, { error: '' }, false],
  ])('%i without an error in words is an invalid answer', (status, body, transient) => {
    expect(oauthError(new Error('x'), answer(status, body))).toMatchObject({
      code: 'RESPONSE_INVALID',
      status,
      transient,
    })
  })

  test('what openid-client says is kept as its code only', () => {
    const inner = Object.assign(new Error('"response" body'), {
      code: 'OAUTH_NEW_CODE',
      cause: { body: { access_token: 'secret' } },
    })
    const translated = oauthError(inner, answer(200, { access_token: 'secret' }))
    expect(translated.message).toContain('OAUTH_NEW_CODE')
    expect(translated.cause).toBeUndefined()
  })

  test('words of the provider are bounded and stripped of control characters', () => {
    const { description, error } = refusal(`no"\\${'e'.repeat(300)}`, `line\r\nline\u0000${'d'.repeat(900)}`)
    expect(error).toBe(`no${'e'.repeat(98)}`)
    expect(description).toMatch(/^line {2}line d+$/)
    expect(description).toHaveLength(500)
  })
})

test('our own errors come through the wrappers of openid-client', () => {
  const own = [
    new WireFault('timeout'),
    new InvalidConfigurationError('INVALID_CONFIGURATION'),
    new OAuthError('RESPONSE_INVALID'),
  ]
  for (const error of own) {
    expect(originOf(new Error('something went wrong', { cause: new Error('more', { cause: error }) }))).toBe(
      error,
    )
  }
  const foreign = new Error('a', { cause: 'text' })
  expect(originOf(foreign)).toBe(foreign)
  const discovery = new DiscoveryError('JWKS_ERROR')
  expect(discoveryError('discovery', discovery)).toBe(discovery)
})

test('Retry-After is a number of seconds or a date', () => {
  const now = 1_900_000_000
  const date = (seconds: number): string => new Date((now + seconds) * 1000).toUTCString()
  expect(['7', ' 0 ', date(90), date(-90)].map((text) => retryAfterSeconds(text, now))).toEqual([7, 0, 90, 0])
  expect(['', '-1', '1.5', 'soon', '9'.repeat(30)].map((text) => retryAfterSeconds(text, now))).toEqual(
    Array(5).fill(undefined),
  )
  expect(retryAfterSeconds(null, now)).toBeUndefined()
})

test('failures are reported without anything the provider said', () => {
  const events: LogEvent[] = []
  const log = { emit: (event: LogEvent) => void events.push(event), once() {} }
  reportFailure(
    log,
    'token',
    refusal('invalid_grant', 'secret', { status: 400, body: {}, retryAfter: undefined }),
  )
  reportFailure(log, 'jwks', new DiscoveryError('JWKS_ERROR'))
  expect(events).toEqual([
    { level: 'warn', code: 'PROVIDER_FAILURE', endpoint: 'token', error: 'OAUTH_ERROR', status: 400 },
    { level: 'error', code: 'PROVIDER_FAILURE', endpoint: 'jwks', error: 'JWKS_ERROR' },
  ])
})

test.each([
  ['mfa_required', 'info'],
  ['authorization_pending', 'info'],
  ['slow_down', 'info'],
  ['invalid_grant', 'warn'],
])('what the user has yet to do is no warning: %s', (error, level) => {
  const events: LogEvent[] = []
  const log = { emit: (event: LogEvent) => void events.push(event), once() {} }
  reportFailure(log, 'token', refusal(error, undefined, { status: 403, body: {}, retryAfter: undefined }))
  expect(events).toMatchObject([{ level, code: 'PROVIDER_FAILURE' }])
})
