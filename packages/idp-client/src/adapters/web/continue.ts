import type { CookieJar, StagedCookie } from '../../http/cookie-jar.ts'
import { isSetBy, toCookieName } from '../../http/cookie-text.ts'
import { noStore, noStoreByDefault } from '../../http/responses.ts'
import { flushOnto } from './binding.ts'

const CONTINUE = 'x-middleware-next'

/** Returns the continue response of `middleware` for a request of the application: empty, with the cookies to set. */
export function continueResponse(cookies: CookieJar): Response {
  const response = new Response(null, { headers: { [CONTINUE]: '1' } })
  flushOnto(cookies, response.headers)
  return response
}

/** Returns whether `middleware` left the request to the application. */
export function isContinue(response: Response): boolean {
  return response.headers.get(CONTINUE) === '1'
}

/**
 * Returns a response with the same content. Bun sends a string as `text/plain`, but not a stream that was made of one: there, the copy of
 * a response without a content type is a clone. Others are not, because Bun 1.3 stops at a clone of a direct stream, such as that of React.
 */
function copyContent(response: Response): Response {
  const isTyped = !('Bun' in globalThis) || response.headers.has('content-type')
  if (isTyped) return new Response(response.body, response)
  const clone = response.clone()
  // Otherwise a stream waits for a reader of the original, too, and keeps in memory what that has not read.
  response.body?.cancel().catch(() => undefined)
  return clone
}

/**
 * Returns a response with the same content: an application may reuse one, and its headers can be immutable. Frameworks recognize their
 * redirects by further properties; those of Node.js 20 itself have no string keys.
 */
function copyResponse(response: Response): Response {
  const copy = copyContent(response)
  const further = Object.entries(response).filter(([name]) => !(name in copy))
  return Object.assign(copy, Object.fromEntries(further))
}

/** Returns whether a value is a response: servers replace the global class, and frameworks let handlers return anything. */
function isResponse(value: Partial<Response> | null | undefined): boolean {
  return typeof value?.headers?.getSetCookie === 'function'
}

/** The cookies of a request whose response leaves. */
interface LeavingCookies {
  readonly cookies: CookieJar
  /** The cookies that were staged before the application handled the request. */
  readonly older: readonly StagedCookie[]
  /** Returns whether a name is that of one of our cookies. */
  isOurs(name: string): boolean
}

/**
 * Returns the application's response with the staged cookies, except `older` ones of which it has newer values. A response
 * that sets one of our cookies is never cacheable, even if the application has written it.
 */
export function withCookies({ cookies, isOurs, older }: LeavingCookies, response: Response): Response {
  // A handler on Bun that has upgraded the request to a WebSocket returns no response.
  if (!response) return response
  const lines = response.headers.getSetCookie()
  if (!cookies.isPending && !lines.some((line) => isOurs(toCookieName(line)))) return response
  const result = copyResponse(response)
  flushOnto(cookies, result.headers, older)
  noStore(result.headers)
  return result
}

/**
 * Forbids caches to store the application's response to a signed-in user, unless the application allows it. Returns a new response only
 * if the headers are immutable: a copy would be sent more slowly.
 */
export function withoutStoring(response: Response): Response {
  // The status of an upgrade cannot be copied.
  if (!isResponse(response) || response.status < 200) return response
  try {
    noStoreByDefault(response.headers)
    return response
  } catch {
    const result = copyResponse(response)
    noStoreByDefault(result.headers)
    return result
  }
}

/**
 * Returns the application's response with the cookies of a continue response, except those that the application has
 * written since. A response that gets a cookie is never cacheable, even by a cache with a header of its own. The result may be a new
 * response, because headers can be immutable.
 */
export function continueWith(continued: Response, response: Response): Response {
  const cookies = continued.headers.getSetCookie()
  if (cookies.length === 0) return response
  const isSet = isSetBy(response.headers.getSetCookie())
  const result = copyResponse(response)
  for (const cookie of cookies) if (!isSet(toCookieName(cookie))) result.headers.append('set-cookie', cookie)
  noStore(result.headers)
  return result
}
