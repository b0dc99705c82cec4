import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/codes.ts'
import type { AccountApiError } from '../errors/connected-accounts.ts'
import { rememberMfaChallenge } from '../errors/mfa-challenge.ts'
import type { OAuthErrorOptions } from '../errors/provider.ts'
import { DiscoveryError, OAuthError } from '../errors/provider.ts'
import type { Log, LogLevel, ProviderEndpoint } from '../log/log.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import { mfaChallengeIn } from './mfa-challenge.ts'
import { networkFault, WireFault } from './wire-fault.ts'

/**
 * The one place where errors of `openid-client`, `jose` and the transport become ours. Their own errors are not kept
 * as causes: they hold bodies, claims and tokens.
 */

/** What is known of an answer of the provider when something is wrong with it. */
export interface Answer {
  readonly status: number
  /** The JSON object of the body; null when it was none. */
  readonly body: JsonObject | null
  /** Seconds of its `Retry-After`. */
  readonly retryAfter: number | undefined
}

const ERROR_LENGTH = 100
const DESCRIPTION_LENGTH = 500

/** Text for the `error` member: the characters of RFC 6749 section 5.2, at most 100. */
function errorText(value: string | undefined): string | undefined {
  return value?.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, '').slice(0, ERROR_LENGTH) || undefined
}

/** The provider's own words, without control characters and bounded; still untrusted. */
export function descriptionText(value: string | undefined): string | undefined {
  return value?.replace(/\p{Cc}/gu, ' ').slice(0, DESCRIPTION_LENGTH) || undefined
}

type Given = { [Key in keyof OAuthErrorOptions]: OAuthErrorOptions[Key] | undefined }

function present(options: Given): OAuthErrorOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** An error that the provider put into words: in a redirect (no status) or in an answer. */
export function refusal(error: string, description: string | undefined, answer?: Answer): OAuthError {
  return new OAuthError(
    'OAUTH_ERROR',
    present({
      error: errorText(error) ?? 'unknown_error',
      description: descriptionText(description),
      status: answer?.status,
      retryAfter: answer?.retryAfter,
    }),
  )
}

export function invalidResponse(detail: string, answer?: Answer): OAuthError {
  return new OAuthError(
    'RESPONSE_INVALID',
    present({ detail, status: answer?.status, retryAfter: answer?.retryAfter }),
  )
}

function wireError(fault: WireFault): OAuthError {
  const options = { cause: fault, detail: fault.message }
  if (fault.kind === 'timeout') return new OAuthError('REQUEST_TIMEOUT', options)
  if (fault.kind === 'network' || fault.kind === 'aborted') return new OAuthError('REQUEST_FAILED', options)
  return new OAuthError('RESPONSE_INVALID', options)
}

const details: ReadonlyMap<string, string> = new Map([
  ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'It has an unexpected HTTP status.'],
  ['OAUTH_RESPONSE_IS_NOT_JSON', 'It is not JSON.'],
  ['OAUTH_PARSE_ERROR', 'It is not JSON.'],
  ['OAUTH_INVALID_RESPONSE', 'A required member is missing or has the wrong type.'],
  ['OAUTH_UNSUPPORTED_OPERATION', 'It uses something that is not supported, for example another token type.'],
])

/** `openid-client` wraps what it does not know, our own errors and those of the transport included. */
export function originOf(error: unknown): unknown {
  let current = error
  for (let depth = 0; depth < 4; depth++) {
    if (current instanceof WireFault || isIdpError(current)) return current
    if (!(current instanceof Error)) return error
    current = current.cause
  }
  return error
}

function detailOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  const name = /^[A-Z][A-Z_]{1,63}$/.test(code) ? ` (${code})` : ''
  return details.get(code) ?? `It could not be processed${name}.`
}

/** `error` is what a request or its processing threw; `answer` what came back, if anything did. */
export function oauthError(error: unknown, answer?: Answer): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof WireFault) return wireError(error)
  const said = answer?.body ? stringMember(answer.body, 'error') : undefined
  if (answer?.body && said !== undefined) {
    const refused = refusal(said, stringMember(answer.body, 'error_description'), answer)
    if (said === 'mfa_required') rememberMfaChallenge(refused, mfaChallengeIn(answer.body))
    return refused
  }
  return invalidResponse(detailOf(error), answer)
}

/** Seconds that a `Retry-After` header asks for (RFC 9110 section 10.2.3): a number, or a date seen from `now`. */
export function retryAfterSeconds(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // HTTP dates begin with the name of a day; the parser would make a date of many other texts.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(date) ? Math.max(0, Math.ceil(date / 1000) - now) : undefined
}

/** `thrown` is what loading or reading threw; null with a status when the answer was none that can be read. */
export function discoveryError(
  endpoint: 'discovery' | 'jwks',
  thrown: unknown,
  status?: number,
): DiscoveryError {
  if (thrown instanceof DiscoveryError) return thrown
  const failed = endpoint === 'jwks' ? 'JWKS_ERROR' : 'DISCOVERY_ERROR'
  if (status === 200) return new DiscoveryError(failed, { detail: 'The answer is no JSON object.' })
  if (status !== undefined)
    return new DiscoveryError(failed, { detail: `The answer has HTTP status ${status}.` })
  const cause = networkFault(thrown)
  const timedOut = endpoint === 'discovery' && cause.kind === 'timeout'
  return new DiscoveryError(timedOut ? 'DISCOVERY_TIMEOUT' : failed, { cause, detail: cause.message })
}

function statusOf(error: OAuthError | DiscoveryError | AccountApiError): number | undefined {
  return error instanceof DiscoveryError ? undefined : error.status
}

/* What the user has yet to do; the flow goes on with it. */
const unfinished: readonly unknown[] = ['mfa_required', 'authorization_pending', 'slow_down']

function levelOf(error: OAuthError | DiscoveryError | AccountApiError): LogLevel {
  if (error.code === 'MY_ACCOUNT_API_ERROR') return 'warn'
  if (error.code !== 'OAUTH_ERROR') return 'error'
  return 'error' in error && unfinished.includes(error.error) ? 'info' : 'warn'
}

/**
 * Tells the log; an error that the provider put into words is a warning, or no news where the user has yet to do
 * something, everything else an error.
 */
export function reportFailure(
  log: Log,
  endpoint: ProviderEndpoint,
  error: OAuthError | DiscoveryError | AccountApiError,
): void {
  const status = statusOf(error)
  log.emit({
    level: levelOf(error),
    code: 'PROVIDER_FAILURE',
    endpoint,
    error: error.code satisfies Code,
    ...(status === undefined ? {} : { status }),
  })
}
