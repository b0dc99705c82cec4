import { requests } from './on-demand.ts'
import type { AccessTokenResponse } from './token-cache.ts'

export interface AccessTokenOptions {
  /**
   * Path to use instead of the access-token route of `IdpProvider`; the base path is added unless it is already there.
   */
  readonly route?: string | undefined
  /** API that the token is for; default: that of the login. */
  readonly audience?: string | undefined
  /** Required scope of the token, space-delimited. */
  readonly scope?: string | undefined
  /** Whether `scope` is added to the configured one (default) or replaces it. */
  readonly mergeScopes?: boolean | undefined
  /** Return the whole response of the route instead of only the token; default false. */
  readonly includeFullResponse?: boolean | undefined
}

/**
 * Returns an access token of the signed-in user, for calls from the browser to an API that validates tokens itself.
 * Concurrent calls share one request. The token is cached in memory, per route, audience and scope, until 10 seconds
 * before it expires. It is dropped when `useUser` sees another user or organization or no user, after a 401, and when the
 * user leaves the window or comes back, because another user may have signed in elsewhere (unless it is younger than 5
 * seconds). Only in browsers: on a server use `idp.getAccessToken()`.
 *
 * Rejects with an `AccessTokenRequestError`. Failed requests are not retried; the next call sends a new one.
 *
 * @example
 * const token = await getAccessToken({ audience: 'https://api.example.com/' })
 */
export function getAccessToken(
  options: AccessTokenOptions & { readonly includeFullResponse: true },
): Promise<AccessTokenResponse>
export function getAccessToken(
  options?: AccessTokenOptions & { readonly includeFullResponse?: false | undefined },
): Promise<string>
export function getAccessToken(options?: AccessTokenOptions): Promise<string | AccessTokenResponse>
export async function getAccessToken(options?: AccessTokenOptions): Promise<string | AccessTokenResponse> {
  return (await requests()).accessToken(options)
}
