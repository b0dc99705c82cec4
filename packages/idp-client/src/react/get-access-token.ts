import type { Code } from '../errors/codes.ts'
import { tokenError } from './access-token-error.ts'
import { askRoute, membersOf, misrouted, unreachable, withQuery } from './ask-route.ts'
import { pageUrls } from './page-urls.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { forgetTokens, obtain, questionTokens } from './token-cache.ts'
import { listen, recheckUsers } from './user-store.ts'

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
  if (typeof window === 'undefined') throw tokenError('INTERNAL_ERROR', onServer)
  // The same listener is added once, however often.
  listen(questionTokens, true)
  const answer = await obtain(addressOf(options), request)
  return options.includeFullResponse ? answer : answer.token
}

const onServer = 'For browsers only: a server calls idp.getAccessToken().'

function addressOf({ route, audience, scope, mergeScopes }: AccessTokenOptions): string {
  const urls = pageUrls()
  const url = route === undefined ? urls.accessToken : urls.locate(route)
  const query = new URLSearchParams()
  if (audience) query.set('audience', audience)
  if (scope) query.set('scope', scope)
  if (mergeScopes === false) query.set('mergeScopes', 'false')
  const text = query.toString()
  return text ? withQuery(url, text) : url
}

async function request(url: string): Promise<AccessTokenResponse> {
  const { status, body } = await askRoute(url).catch((cause: unknown) => {
    throw tokenError('REQUEST_FAILED', unreachable('access-token'), { cause })
  })
  if (isToken(body)) return body
  const { code, message } = membersOf<'code' | 'message'>(membersOf<'error'>(body).error)
  if (status === 401) {
    forgetTokens()
    // The session is gone: components that show its user learn it now, not at the next focus.
    if (code === 'MISSING_SESSION') recheckUsers()
  }
  if (typeof code === 'string' && typeof message === 'string')
    throw tokenError(code as Code, message, { name: 'AccessTokenError', status })
  throw tokenError('INTERNAL_ERROR', misrouted('access-token'), { status })
}

function isToken(body: unknown): body is AccessTokenResponse {
  const { token, expires_in } = membersOf<keyof AccessTokenResponse>(body)
  return typeof token === 'string' && typeof expires_in === 'number'
}
