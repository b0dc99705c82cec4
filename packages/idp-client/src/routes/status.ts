import type { IdpError } from '../errors/base.ts'
import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/codes.ts'
import { codes } from '../errors/codes.ts'
import type { AccountApiError } from '../errors/connected-accounts.ts'
import type { OAuthError } from '../errors/provider.ts'

function isOAuthError(value: unknown): value is OAuthError {
  return typeof value === 'object' && value !== null && 'transient' in value
}

function isAccountApiError(value: unknown): value is AccountApiError {
  return isIdpError(value, 'MY_ACCOUNT_API_ERROR') && 'status' in value
}

/** The account API's own word on what it was asked; what it could not do now is no fault of the visitor. */
function accountApiStatus({ status }: AccountApiError): number {
  if (status === 429 || status === 503) return 503
  return status >= 400 && status < 500 ? status : 502
}

/** No account was connected: the cause tells who decided that. */
function connectStatus(cause: unknown, status: number): number {
  if (isAccountApiError(cause)) return accountApiStatus(cause)
  if (isOAuthError(cause)) {
    if (cause.transient) return upstreamStatus(cause)
    // Refused by the person or the provider, in the callback: what an answer says has a status.
    return cause.code === 'OAUTH_ERROR' && cause.status === undefined ? 400 : status
  }
  return isIdpError(cause) ? toStatus(cause) : status
}

/** What the provider could not do now is no fault of the visitor, whose session goes on. */
function upstreamStatus(cause: OAuthError): number {
  if (cause.code === 'REQUEST_TIMEOUT') return 504
  return cause.status === 429 || cause.status === 503 ? 503 : 502
}

/** Whether another login is what helps: there is no session, or not one that may do this. */
export function needsLogin(error: IdpError): boolean {
  const status = toStatus(error)
  return status === 401 || status === 403
}

/** Their own status says that the provider has refused something of the visitor. */
const ASKED: ReadonlySet<Code> = new Set<Code>([
  'FAILED_TO_REFRESH_TOKEN',
  'MFA_GET_AUTHENTICATORS_ERROR',
  'MFA_CHALLENGE_ERROR',
  'MFA_ENROLLMENT_ERROR',
  'MFA_VERIFY_ERROR',
])

/**
 * HTTP status of an error: that of its code, except where the cause knows better: a provider that cannot be heard is
 * 502, 503 or 504, a code that it no longer accepts is the visitor's (400).
 */
export function toStatus(error: IdpError): number {
  const { status } = codes[error.code]
  const { cause, code } = error
  if (code === 'FAILED_TO_INITIATE' || code === 'FAILED_TO_COMPLETE') return connectStatus(cause, status)
  if (ASKED.has(code) && isIdpError(cause) && cause.name === 'DiscoveryError') {
    return codes[cause.code].status
  }
  if (!isOAuthError(cause)) return status
  if (cause.transient) return upstreamStatus(cause)
  // An answer that is none, or tokens that were refused, are no word of the provider about this session.
  if (ASKED.has(code) && cause.code !== 'OAUTH_ERROR') return codes[cause.code].status
  return code === 'AUTHORIZATION_CODE_GRANT_ERROR' && cause.error === 'invalid_grant' ? 400 : status
}
