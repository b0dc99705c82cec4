import type { NextRequest } from 'next/server.js'
import { NextResponse } from 'next/server.js'
import type { Binding } from '../../binding.ts'
import type { CookieJar, CookieSink } from '../../http/cookie-jar.ts'
import { headersSink } from '../../http/cookie-text.ts'
import type { RequestView } from '../../http/exchange.ts'
import { noStore } from '../../http/responses.ts'
import type { WebTarget } from '../web/binding.ts'
import { bindRequest } from '../web/binding.ts'
import { mergedCookies, overrideRequestHeaders, passesOn } from './forward.ts'

/**
 * A Web request, whichever copy of which class it comes from. The headers of Node's requests are a plain object, whose
 * properties a client chooses: one may be called `get`.
 */
export function isWebRequest(value: unknown): value is Request {
  if (typeof value !== 'object' || value === null || !('headers' in value)) return false
  const { headers } = value
  return (
    typeof headers === 'object' && headers !== null && 'get' in headers && typeof headers.get === 'function'
  )
}

function hasCookieWriter<T extends object>(target: T): target is T & { cookies: CookieSink } {
  const { cookies } = target as { cookies?: Partial<CookieSink> }
  return typeof cookies?.set === 'function'
}

/** The path without what Next manages: base path, locale, and the address of its data requests. */
function withPath(request: Request, view: RequestView): RequestView {
  const { nextUrl } = request as Partial<NextRequest>
  if (!nextUrl) return view
  const { basePath, pathname } = nextUrl
  return { ...view, path: pathname, ...(basePath ? { mount: basePath } : {}) }
}

/*
 * A page has the last word on Cache-Control where it sets it (Pages Router), although the cookie stays on the response.
 * It hardly sets these: no cache may answer another request with a response that varies by everything (RFC 9111 section
 * 4.1), and CDNs prefer the header that is meant for them (RFC 9213).
 */
const NEVER_SHARED = [
  ['Vary', '*'],
  ['CDN-Cache-Control', 'no-store'],
] as const

/**
 * Puts staged cookies on a response, by Next's own writer where there is one: a line that is only appended to the
 * headers disappears with the application's next `response.cookies.set()`. On a response that passes the request on,
 * the application gets the new cookies with the request as well.
 */
export function writeCookies(cookies: CookieJar, request: Request, target: WebTarget): void {
  if (cookies.pending().length === 0) return
  const headers = target instanceof Response ? target.headers : target
  cookies.flush(hasCookieWriter(target) ? target.cookies : headersSink(headers))
  noStore(headers)
  if (!passesOn(headers)) return
  for (const [name, value] of NEVER_SHARED) headers.set(name, value)
  overrideRequestHeaders(headers, request.headers, [mergedCookies(cookies)])
}

/** Binds a `NextRequest` or any other Web request, and the response that its cookies go to, when there is one. */
export function bindWeb(request: Request, target?: WebTarget): Binding {
  const { exchange } = bindRequest(request)
  const { cookies, request: view } = exchange
  return {
    exchange: { ...exchange, request: withPath(request, view), canWrite: () => target !== undefined },
    async commit() {
      if (target) writeCookies(cookies, request, target)
      return cookies.pending().length === 0
    },
  }
}

/** The same response as Next's own class, so that the application can set cookies on it. */
export function toNextResponse(response: Response): NextResponse {
  return response instanceof NextResponse ? response : new NextResponse(response.body, response)
}
