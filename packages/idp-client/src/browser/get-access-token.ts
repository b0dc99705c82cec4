import { requests } from './on-demand.ts'
import type { AccessTokenResponse } from './token-cache.ts'

export interface AccessTokenOptions {
  /** Another path than the access-token route of `IdpProvider`; gets the base path in front unless it has it. */
  readonly route?: string | undefined
  /** API that the token is for; default the one of the login. */
  readonly audience?: string | undefined
  /** Scope that the token must have, space-delimited. */
  readonly scope?: string | undefined
  /** Whether `scope` is added to the configured one (default) or stands alone. */
  readonly mergeScopes?: boolean | undefined
  /** Return the whole answer of the route instead of the token alone; default false. */
  readonly includeFullResponse?: boolean | undefined
}

/**
 * An access token of the signed-in user, for calls from the browser to an API that checks tokens itself. Components that
 * ask at once share one request. The token is kept in memory, per route, audience and scope, until 10 seconds before its
 * end. It is dropped when `useUser` sees another user or none, after a 401, and when the user leaves the window or comes
 * back, where another user may have signed in (unless it is younger than 5 seconds). In the browser only: a server
 * uses `idp.getAccessToken()`.
 *
 * Rejects with an `AccessTokenRequestError`. Nothing is retried; the next call asks again.
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
