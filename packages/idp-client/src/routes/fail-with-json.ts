import type { IdpError } from '../errors/base.ts'
import type { MfaRequiredError } from '../errors/mfa.ts'
import { errorJson, json } from '../http/responses.ts'
import { toStatus } from './status.ts'

/** Compares the name, because an error may come from another copy of the package. */
function isMfaRequired(error: IdpError): error is MfaRequiredError {
  return error.name === 'MfaRequiredError'
}

/**
 * Returns the response to a token request that needs another factor, with the input of the MFA routes; `null` for other
 * errors.
 */
export function mfaRequiredJson(error: IdpError): Response | null {
  return isMfaRequired(error) ? json(toStatus(error), { ...error.toJSON(), code: error.code }) : null
}

/** Responds with JSON, on routes that code calls. */
export function failWithJson(error: IdpError): Response {
  return mfaRequiredJson(error) ?? errorJson(toStatus(error), error.code)
}
