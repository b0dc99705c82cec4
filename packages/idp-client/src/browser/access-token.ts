import type { Route } from './ask-route.ts'
import { addressWith, askRoute, browserOnly, toProperties } from './ask-route.ts'
import { currentUrls } from './current-urls.ts'
import type { AccessTokenOptions } from './get-access-token.ts'
import type { RouteRequestError } from './request-error.ts'
import { listen } from './tabs.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { obtain, questionTokens } from './token-cache.ts'
import { forgetTokens } from './token-epoch.ts'
import { isUserShown, reportFinal } from './watcher.ts'

/** The implementation of `getAccessToken`, loaded on demand. */
export function accessToken(
  options: AccessTokenOptions & { readonly includeFullResponse: true },
): Promise<AccessTokenResponse>
export function accessToken(options?: AccessTokenOptions): Promise<string | AccessTokenResponse>
export async function accessToken(options: AccessTokenOptions = {}): Promise<string | AccessTokenResponse> {
  browserOnly()
  listen(question, true)
  const answer = await obtain(routeUrl(options), request)
  return options.includeFullResponse ? answer : answer.token
}

function routeUrl({ route: path, audience, scope, mergeScopes }: AccessTokenOptions): string {
  const urls = currentUrls()
  const url = path === undefined ? urls.accessToken : urls.locate(path)
  return addressWith(url, { audience, scope, mergeScopes: mergeScopes === false ? 'false' : '' })
}

const route: Route<AccessTokenResponse> = {
  route: 'access-token',
  name: 'AccessTokenError',
  isAnswer: (body): body is AccessTokenResponse => {
    const { token, expires_in } = toProperties<keyof AccessTokenResponse>(body)
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
