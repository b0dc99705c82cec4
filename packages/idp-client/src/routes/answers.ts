import type { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { OAuthError } from '../errors/provider.ts'
import { failurePage } from '../http/failure-page.ts'
import { wantsJson } from '../http/request-kind.ts'
import { errorJson } from '../http/responses.ts'
import type { Links, RouteRequest } from './route.ts'

function isOAuthError(value: unknown): value is OAuthError {
  return value instanceof OAuthError || (typeof value === 'object' && value !== null && 'transient' in value)
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

/** The answer of routes that people meet: a page, or JSON if the client asked for it. */
export function failWithPage(
  error: IdpError,
  { exchange, id }: RouteRequest,
  links: Links,
  restartUrl?: string,
): Response {
  return failurePage({
    status: statusOf(error),
    code: error.code,
    id,
    json: wantsJson(exchange.request.headers),
    homeUrl: links.home,
    retryUrl: links.login,
    ...(restartUrl === undefined ? {} : { restartUrl }),
  })
}

/** The answer of routes that code meets. */
export function failWithJson(error: IdpError): Response {
  return errorJson(statusOf(error), error.code)
}
