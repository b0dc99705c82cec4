import type { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/codes.ts'
import type { MfaRequirements } from '../errors/mfa.ts'

/**
 * Why a route of the application did not give what was asked for; `isIdpError` and `instanceof` of the class in its
 * `name` recognise it. What the route reports has
 * the code of the server; `REQUEST_FAILED`: the application's server was not reached; `INTERNAL_ERROR`: something else
 * than the route answered.
 */
export interface RouteRequestError<C extends Code = Code> extends IdpError<C> {
  /** HTTP status of the answer, if there was one. 401: the user has to log in; 502 to 504: a later call may succeed. */
  readonly status?: number
  /** Of the MFA routes: the word of the provider, for example `invalid_grant` for a wrong code, else of the route. */
  readonly error?: string
  readonly error_description?: string
}

/**
 * Why the browser got no access token. What the route reports has `name` `AccessTokenError`: `MISSING_SESSION`,
 * `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN`, or the code of another fault; with `MFA_REQUIRED` it is a
 * `BrowserMfaRequiredError`.
 */
export type AccessTokenRequestError = RouteRequestError

/**
 * The provider requires another factor first: `mfa` continues from here. An instance of `MfaRequiredError` of
 * `idp-client/errors`, which is its `name`.
 */
export interface BrowserMfaRequiredError extends RouteRequestError<'MFA_REQUIRED'> {
  /** For the functions of `mfa`. Empty: the user has to log in again. */
  readonly mfa_token: string
  readonly mfa_requirements?: MfaRequirements
}

/** Further properties of the error. */
interface Details {
  readonly name?: string
  readonly status?: number
  readonly cause?: unknown
}

/** The classes of `errors` would bring all their messages along, more than this whole entry weighs. */
export function browserError(code: Code, message: string, details?: Details): RouteRequestError {
  const own = { name: 'IdpError', code, remedy: code, ...details }
  return Object.assign(new Error(message), own, { [Symbol.for('idp-client.error')]: own.name })
}
