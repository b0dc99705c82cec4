import { error, isRedirect, redirect } from '@sveltejs/kit'
import { isForbidden } from '../../guards/guards.ts'
import type { CookieJar, CookieSink } from '../../http/cookie-jar.ts'
import type { EventCookies, FrameworkRequest } from './event.ts'

/** By status of a redirect that caches may store without `Cache-Control` (RFC 9110 section 15.1): one that they must not. */
const TEMPORARY: Readonly<Record<number, number>> = { 300: 302, 301: 302, 308: 307 }

/** Returns a sink that writes values as they are: SvelteKit would encode them. */
function toSink(cookies: EventCookies): CookieSink {
  const encode = (value: string): string => value
  return { set: (name, value, attributes) => cookies.set(name, value, { ...attributes, encode }) }
}

/**
 * Gives our cookies to SvelteKit if a later hook throws a redirect, or returns one to a request for the data of a page:
 * SvelteKit creates the response, and its headers.
 */
export async function withCookiesOfRedirects(
  event: Pick<FrameworkRequest, 'cookies' | 'isDataRequest'>,
  cookies: CookieJar,
  respond: () => Promise<Response>,
): Promise<Response> {
  try {
    const response = await respond()
    const { headers, status } = response
    const location = event.isDataRequest && status >= 300 && status <= 308 && headers.get('location')
    return location ? redirect(status, location) : response
  } catch (thrown) {
    if (!isRedirect(thrown) || !cookies.isPending) throw thrown
    cookies.flush(toSink(event.cookies))
    return redirect(TEMPORARY[thrown.status] ?? thrown.status, thrown.location)
  }
}

/** Throws what SvelteKit makes of the response of a page guard: its redirect to the login, or its error 403. */
export function throwRejection(response: Response): never {
  if (isForbidden(response)) error(403, 'Forbidden')
  // 303: the browser requests the login with GET, also after a form action.
  return redirect(303, response.headers.get('location') ?? '/')
}
