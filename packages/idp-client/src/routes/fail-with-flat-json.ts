import type { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { json } from '../http/responses.ts'
import { mfaRequiredJson } from './fail-with-json.ts'
import { toStatus } from './status.ts'

/** The provider's word, where it is what decided: `invalid_grant` for a wrong code, `authorization_pending` … */
function toErrorCode({ cause, code }: IdpError, status: number): string {
  const said = typeof cause === 'object' && cause !== null && 'error' in cause ? cause.error : undefined
  if (typeof said === 'string') return said
  return status === 500 ? 'server_error' : code.toLowerCase()
}

/** `{"error","error_description","code"}`, like the errors of OAuth (RFC 6749 section 5.2); texts are ours. */
export function failWithFlatJson(error: IdpError): Response {
  const { code, message } = error
  const status = toStatus(error)
  const required = mfaRequiredJson(error)
  if (required) return required
  // Which parameter it is that is wrong is what whoever calls a route needs to know.
  const description = code === 'INVALID_REQUEST' ? message : codes[code].message
  return json(status, { error: toErrorCode(error, status), error_description: description, code })
}
