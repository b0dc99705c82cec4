import type { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { describe } from '../errors/diagnosis.ts'
import { json } from '../http/responses.ts'
import { mfaRequiredJson } from './fail-with-json.ts'
import { toStatus } from './status.ts'

/**
 * Returns the provider's error code if it decided (`invalid_grant` for a wrong code, `authorization_pending` …),
 * otherwise ours.
 */
function toErrorCode({ cause, code }: IdpError, status: number): string {
  const oauthError = typeof cause === 'object' && cause !== null && 'error' in cause ? cause.error : undefined
  if (typeof oauthError === 'string') return oauthError
  return status === 500 ? 'server_error' : code.toLowerCase()
}

/**
 * Responds with `{"error","error_description","code"}`, as OAuth errors do (RFC 6749 section 5.2); descriptions are our
 * own.
 */
export function failWithFlatJson(error: IdpError): Response {
  const { code } = error
  const status = toStatus(error)
  const required = mfaRequiredJson(error)
  if (required) return required
  // The detail names the invalid parameter, which the caller needs to know.
  const description = code === 'INVALID_REQUEST' ? describe(error) : codes[code].message
  return json(status, { error: toErrorCode(error, status), error_description: description, code })
}
