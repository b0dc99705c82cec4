import type { Route } from './ask-route.ts'
import { askRoute, membersOf, withQuery } from './ask-route.ts'
import { currentPage } from './page.ts'
import type { RouteRequestError } from './request-error.ts'
import { browserError } from './request-error.ts'
import { listen } from './tabs.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { forgetTokens, obtain, questionTokens } from './token-cache.ts'
import { isUserShown, reportFinal } from './user-store.ts'

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
 * back, where somebody else may have signed in (unless it is younger than 5 seconds). In the browser only: a server
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
export async function getAccessToken(
  options: AccessTokenOptions = {},
): Promise<string | AccessTokenResponse> {
  if (typeof window === 'undefined') throw browserError('INTERNAL_ERROR', onServer)
  listen(question, true)
  const answer = await obtain(addressOf(options), request)
  return options.includeFullResponse ? answer : answer.token
}

const onServer = 'For browsers only: a server calls idp.getAccessToken().'

function addressOf({ route: path, audience, scope, mergeScopes }: AccessTokenOptions): string {
  const { urls } = currentPage()
  const url = path === undefined ? urls.accessToken : urls.locate(path)
  return withQuery(url, { audience, scope, mergeScopes: mergeScopes === false ? 'false' : '' })
}

const route: Route<AccessTokenResponse> = {
  route: 'access-token',
  name: 'AccessTokenError',
  isAnswer: (body): body is AccessTokenResponse => {
    const { token, expires_in } = membersOf<keyof AccessTokenResponse>(body)
    return typeof token === 'string' && typeof expires_in === 'number'
  },
}

function request(url: string): Promise<AccessTokenResponse> {
  return askRoute(route, url).catch((error: RouteRequestError) => {
    if (error.status === 401) {
      forgetTokens()
      reportFinal(error)
    }
    throw error
  })
}

function question(event: Event): void {
  if (event.type !== 'message') questionTokens(event)
  // Another tab says who is signed in there; where the page shows its user, that one knows whether it is news.
  else if (!isUserShown()) forgetTokens()
}
