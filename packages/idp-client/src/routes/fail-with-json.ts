import type { IdpError } from '../errors/base.ts'
import type { MfaRequiredError } from '../errors/mfa.ts'
import { errorJson, json } from '../http/responses.ts'
import { toStatus } from './status.ts'

/** By name, since an error may come from another copy of the package. */
function isMfaRequired(error: IdpError): error is MfaRequiredError {
  return error.name === 'MfaRequiredError' && 'toJSON' in error
}

/** The answer to a token that needs another factor: what the MFA routes are asked with. Null for other errors. */
export function mfaRequiredJson(error: IdpError): Response | null {
  return isMfaRequired(error) ? json(toStatus(error), { ...error.toJSON(), code: error.code }) : null
}

/** The answer of routes that code meets. */
export function failWithJson(error: IdpError): Response {
  return mfaRequiredJson(error) ?? errorJson(toStatus(error), error.code)
}
