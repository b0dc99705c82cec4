import type { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/codes.ts'

/**
 * Why the browser got no access token; `isIdpError` recognises it. What the route reports has `name` `AccessTokenError`
 * and the code of the server: `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN`, or that of another
 * fault. `REQUEST_FAILED`: the application's server was not reached. `INTERNAL_ERROR`: something else than the route
 * answered.
 */
export interface AccessTokenRequestError extends IdpError {
  /** HTTP status of the answer, if there was one. 401: the user has to log in; 502 to 504: a later call may succeed. */
  readonly status?: number
}

/** Further properties of the error. */
interface Details {
  readonly name?: 'AccessTokenError'
  readonly status?: number
  readonly cause?: unknown
}

/** The classes of `errors` would bring all their messages along, more than this whole entry weighs. */
export function tokenError(code: Code, message: string, details?: Details): AccessTokenRequestError {
  const error = Object.assign(new Error(message), { name: 'IdpError', code, ...details })
  return Object.defineProperty(error, Symbol.for('idp-client.error'), { value: true })
}
