import type { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import type { OAuthError } from '../errors/provider.ts'

function isOAuthError(value: unknown): value is OAuthError {
  return typeof value === 'object' && value !== null && 'transient' in value
}

/**
 * HTTP status of an error: that of its code, except where the cause knows better: what the provider took too long for
 * is 504, a code that it no longer accepts is the visitor's (400).
 */
export function statusOf(error: IdpError): number {
  const { status } = codes[error.code]
  if (!isOAuthError(error.cause)) return status
  if (error.cause.code === 'REQUEST_TIMEOUT') return 504
  return error.code === 'AUTHORIZATION_CODE_GRANT_ERROR' && error.cause.error === 'invalid_grant'
    ? 400
    : status
}
