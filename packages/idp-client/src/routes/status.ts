import type { IdpError } from '../errors/base.ts'
import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import type { AccountApiError } from '../errors/connected-accounts.ts'
import type { OAuthError } from '../errors/provider.ts'

export function isOAuthError(value: unknown): value is OAuthError {
  return isIdpError(value) && 'transient' in value
}

function isAccountApiError(value: unknown): value is AccountApiError {
  return isIdpError(value, 'MY_ACCOUNT_API_ERROR') && 'providerStatus' in value
}

/** Returns the status of the account API's error; a temporary failure is 503 or 502, not an error of the user. */
function accountApiStatus({ providerStatus, status }: AccountApiError): number {
  return status ?? (providerStatus < 400 ? 502 : providerStatus)
}

/** Returns the status of a failed connection, by its cause. */
function connectStatus(cause: unknown, status: number): number {
  if (isAccountApiError(cause)) return accountApiStatus(cause)
  if (isOAuthError(cause)) {
    if (cause.status !== undefined) return cause.status
    // Refused by the user or the provider in the callback's parameters: an error in a response is an `AccountApiError`.
    return cause.code === 'OAUTH_ERROR' ? 400 : status
  }
  return isIdpError(cause) ? toStatus(cause) : status
}

/** Returns whether another login helps: there is no session, or its permissions are insufficient. */
export function needsLogin(error: IdpError): boolean {
  const status = toStatus(error)
  return status === 401 || status === 403
}

/** Codes whose own status says that the provider rejected a request of the user. */
const REJECTION_CODES: ReadonlySet<Code> = new Set<Code>([
  'FAILED_TO_REFRESH_TOKEN',
  'MFA_GET_AUTHENTICATORS_ERROR',
  'MFA_CHALLENGE_ERROR',
  'MFA_ENROLLMENT_ERROR',
  'MFA_VERIFY_ERROR',
])

/** Errors of a token request about its code, or about what the user has to do before the provider issues the tokens. */
const CODE_REFUSALS: ReadonlySet<string | undefined> = new Set([
  'invalid_grant',
  'interaction_required',
  'consent_required',
])

/**
 * Returns the HTTP status of an error: that of its code, unless the cause is more specific. An unreachable provider is
 * 502, 503 or 504; an authorization code that it does not accept (`CODE_REFUSALS`) is a client error (400).
 */
export function toStatus(error: IdpError): number {
  const { status } = codes[error.code]
  const { cause, code } = error
  if (code === 'FAILED_TO_INITIATE' || code === 'FAILED_TO_COMPLETE') return connectStatus(cause, status)
  if (REJECTION_CODES.has(code) && isIdpError(cause) && cause.name === 'DiscoveryError') {
    return codes[cause.code].status
  }
  if (!isOAuthError(cause)) return status
  if (cause.status !== undefined) return cause.status
  // An unusable response or rejected tokens are not a decision of the provider about this session.
  if (REJECTION_CODES.has(code) && cause.code !== 'OAUTH_ERROR') return codes[cause.code].status
  return code === 'AUTHORIZATION_CODE_GRANT_ERROR' && CODE_REFUSALS.has(cause.error) ? 400 : status
}
