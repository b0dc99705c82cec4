import type { CookieJar } from '../../http/cookie-jar.ts'
import { cookieHeader } from '../../http/cookie-text.ts'

/*
 * Headers that `NextResponse.next({ request: { headers } })` writes: the names of all headers that the application
 * gets, and their values. A header that is not named is removed.
 */
const OVERRIDE_NAMES = 'x-middleware-override-headers'
const VALUE_PREFIX = 'x-middleware-request-'

/** Request header with path and query, as the browser sees them, from the proxy to page guards. */
export const RETURN_PATH = 'x-idp-return-path'

/** Removes the query parameter that the router of Next.js adds to its requests; the page's URL does not have it. */
export function withoutRouterParameter(url: string): string {
  return url.includes('_rsc=') ? url.replace(/([?&])_rsc=[^&]*(?:&|$)/, '$1').replace(/[?&]$/, '') : url
}

/** Returns whether Next.js continues with the request, to the same page or another one. */
export function forwardsRequest(response: Headers): boolean {
  return response.has('x-middleware-next') || response.has('x-middleware-rewrite')
}

/** Returns the names of the request headers that a response forwards, or `null` if it changes none. */
export function forwardedNames(response: Headers): ReadonlySet<string> | null {
  const names = response.get(OVERRIDE_NAMES)
  return names === null ? null : new Set(names.split(',').map((name) => name.trim()))
}

/** Returns the forwarded value of a request header. */
export function forwardedValue(response: Headers, name: string): string | null {
  return response.get(VALUE_PREFIX + name)
}

/** Changes some request headers for the application and forwards all others; `null` removes one. */
export function overrideRequestHeaders(
  response: Headers,
  request: Headers,
  changes: Iterable<readonly [name: string, value: string | null]>,
): void {
  const forwarded = forwardedNames(response)
  const names = new Set(forwarded)
  if (!forwarded) {
    request.forEach((value, name) => {
      names.add(name)
      response.set(VALUE_PREFIX + name, value)
    })
  }
  for (const [name, value] of changes) {
    if (value === null) {
      names.delete(name)
      response.delete(VALUE_PREFIX + name)
    } else {
      names.add(name)
      response.set(VALUE_PREFIX + name, value)
    }
  }
  response.set(OVERRIDE_NAMES, [...names].join(','))
}

/** Returns the change of the `Cookie` header after the staged writes; its value is `null` without cookies. */
export function toCookieChange(cookies: CookieJar): readonly ['cookie', string | null] {
  return ['cookie', cookieHeader(cookies.entries()) || null]
}
