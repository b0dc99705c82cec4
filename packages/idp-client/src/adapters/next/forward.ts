import type { CookieJar } from '../../http/cookie-jar.ts'
import { cookieHeader } from '../../http/cookie-text.ts'

/*
 * Written by `NextResponse.next({ request: { headers } })`: the names of all headers that the application gets, and
 * their values. A header that is not named is removed.
 */
const NAMES = 'x-middleware-override-headers'
const VALUE = 'x-middleware-request-'

/** Carries path and query, as the browser sees them, from the proxy to the guards of pages. */
export const RETURN_PATH = 'x-idp-return-path'

/** Whether a response lets Next continue with the request, to the same page or to another. */
export function passesOn(response: Headers): boolean {
  return response.has('x-middleware-next') || response.has('x-middleware-rewrite')
}

/** Names of the request headers that a response lets the application have; null when it changes none. */
export function forwardedNames(response: Headers): ReadonlySet<string> | null {
  const names = response.get(NAMES)
  return names === null ? null : new Set(names.split(',').map((name) => name.trim()))
}

/** Returns the value of a request header as the application gets it. */
export function forwardedValue(response: Headers, name: string): string | null {
  return response.get(VALUE + name)
}

/** Lets the application see other values of some request headers, and all others as they are; null removes one. */
export function overrideRequestHeaders(
  response: Headers,
  request: Headers,
  changes: Iterable<readonly [name: string, value: string | null]>,
): void {
  const names = new Set(forwardedNames(response))
  if (names.size === 0) {
    for (const [name, value] of request) {
      names.add(name)
      response.set(VALUE + name, value)
    }
  }
  for (const [name, value] of changes) {
    if (value === null) {
      names.delete(name)
      response.delete(VALUE + name)
    } else {
      names.add(name)
      response.set(VALUE + name, value)
    }
  }
  response.set(NAMES, [...names].join(','))
}

/** The `Cookie` header after the staged writes, null when none is left. */
export function mergedCookies(cookies: CookieJar): readonly ['cookie', string | null] {
  return ['cookie', cookieHeader(cookies.entries()) || null]
}
