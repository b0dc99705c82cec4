import type { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import type { MfaRequirements } from '../errors/mfa.ts'

/**
 * Failed request to a route of the application. `isIdpError`, and `instanceof` of the class in its `name`, recognize
 * it. Errors of the route have the server's code; `REQUEST_FAILED`: the application's server could not be reached;
 * `INTERNAL_ERROR`: something other than the route responded.
 */
export interface RouteRequestError<C extends Code = Code> extends IdpError<C> {
  /** HTTP status of the response, if any. 401: the user has to log in; 502 to 504: a later call may succeed. */
  readonly status?: number
  /** OAuth error of an MFA route: the provider's, such as `invalid_grant` for a wrong code, otherwise the route's. */
  readonly error?: string
  readonly error_description?: string
}

/**
 * Failure to get an access token in the browser. Errors of the route have the `name` `AccessTokenError`:
 * `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN`, or another code; with `MFA_REQUIRED` it is a
 * `BrowserMfaRequiredError`.
 */
export type AccessTokenRequestError = RouteRequestError

/**
 * The provider requires another factor first: continue with `mfa`. An instance of `MfaRequiredError` of
 * `idp-client/errors`, which is its `name`.
 */
export interface BrowserMfaRequiredError extends RouteRequestError<'MFA_REQUIRED'> {
  /** Token for the functions of `mfa`. If empty, the user has to log in again. */
  readonly mfa_token: string
  readonly mfa_requirements?: MfaRequirements
}

/** Further properties of the error. */
interface Details {
  readonly name?: string
  readonly status?: number
  readonly cause?: unknown
}

/** Creates an error without the classes of `errors`, which would add all their messages: more than this whole entry. */
export function browserError(code: Code, message: string, details?: Details): RouteRequestError {
  const own = { name: 'IdpError', code, remedy: code, ...details }
  return Object.assign(new Error(message), own, { [Symbol.for('idp-client.error')]: own.name })
}
