import type { Route } from './ask-route.ts'
import { addressWith, browserOnly, currentUrls, requestRoute, toProperties } from './ask-route.ts'
import type { AccessTokenOptions } from './get-access-token.ts'
import { forgetTokens } from './page-state.ts'
import type { RouteRequestError } from './request-error.ts'
import { listen } from './tabs.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { expireTokens, obtain } from './token-cache.ts'
import { isUserShown, reportFinal } from './watcher.ts'

/** Implements `getAccessToken`, which loads this module. */
export function accessToken(
  options: AccessTokenOptions & { readonly includeFullResponse: true },
): Promise<AccessTokenResponse>
export function accessToken(options?: AccessTokenOptions): Promise<string | AccessTokenResponse>
export async function accessToken(options: AccessTokenOptions = {}): Promise<string | AccessTokenResponse> {
  browserOnly()
  listen(onEvent, true)
  const response = await obtain(routeUrl(options), request)
  return options.includeFullResponse ? response : response.token
}

function routeUrl({ route: path, audience, scope, mergeScopes }: AccessTokenOptions): string {
  const urls = currentUrls()
  const url = path === undefined ? urls.accessToken : urls.locate(path)
  return addressWith(url, { audience, scope, mergeScopes: mergeScopes === false ? 'false' : '' })
}

const route: Route<AccessTokenResponse> = {
  route: 'access-token',
  name: 'AccessTokenError',
  isValid: (body): body is AccessTokenResponse => {
    const { token, expires_in } = toProperties<keyof AccessTokenResponse>(body)
    return typeof token === 'string' && typeof expires_in === 'number'
  },
}

function request(url: string): Promise<AccessTokenResponse> {
  return requestRoute(route, url).catch((error: RouteRequestError) => {
    if (error.status === 401) reportFinal(error)
    throw error
  })
}

function onEvent(event: Event): void {
  if (event.type !== 'message') expireTokens(event)
  // Another tab reports its user. If this page shows the user, the user store compares them and drops the tokens
  // itself.
  else if (!isUserShown()) forgetTokens()
}
