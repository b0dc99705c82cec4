import type { NextRequest } from 'next/server.js'
import { NextResponse } from 'next/server.js'
import type { CookieJar, CookieSink } from '../../http/cookie-jar.ts'
import { headersSink } from '../../http/cookie-text.ts'
import type { Binding, Exchange, RequestView } from '../../http/exchange.ts'
import { noStore } from '../../http/responses.ts'
import type { WebTarget } from '../web/binding.ts'
import { flushOnto, toExchange as toWebExchange, WebRequestView } from '../web/binding.ts'
import { forwardsRequest, overrideRequestHeaders, toCookieChange } from './forward.ts'

/**
 * Returns whether a value is a Web request, of any class or realm. The headers of Node's requests are a plain object
 * whose property names a client controls: one may be called `get`.
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

/** The line that mounts the middleware, for errors. */
export const MOUNT_LINE =
  'export const proxy = (request) => idp.middleware(request) in proxy.ts, before Next.js 16 export const middleware in middleware.ts'

/** The path without the parts that Next.js manages: base path, locale, and the URL of data requests. */
class NextRequestView extends WebRequestView {
  readonly path: string
  readonly prefix: string

  constructor(request: NextRequest) {
    super(request)
    const { basePath, pathname } = request.nextUrl
    this.path = pathname
    this.prefix = basePath
  }
}

/** Returns the view of a `NextRequest` or any other Web request. */
export function toRequestView(request: Request): RequestView {
  const isNextRequest = (request as Partial<NextRequest>).nextUrl !== undefined
  return isNextRequest ? new NextRequestView(request as NextRequest) : new WebRequestView(request)
}

/*
 * A page (Pages Router) may override Cache-Control, although the cookie stays on the response. It is unlikely to set
 * these headers: a cache must not reuse a response with `Vary: *` (RFC 9111 section 4.1), and CDNs prefer the header
 * made for them (RFC 9213).
 */
const NEVER_SHARED = [
  ['Vary', '*'],
  ['CDN-Cache-Control', 'no-store'],
] as const

/**
 * Adds staged cookies to a response, by the cookie writer of Next.js if it has one: a line that is only appended to the
 * headers is lost at the application's next `response.cookies.set()`. If the response forwards the request, the
 * application also gets the new cookies with it, unless `isForwarded` is false.
 */
export function writeCookies(
  cookies: CookieJar,
  request: Request,
  target: WebTarget,
  isForwarded = true,
): void {
  if (!cookies.isPending) return
  const headers = target instanceof Response ? target.headers : target
  cookies.flush(hasCookieWriter(target) ? target.cookies : headersSink(headers))
  noStore(headers)
  if (!forwardsRequest(headers)) return
  for (const [name, value] of NEVER_SHARED) headers.set(name, value)
  if (isForwarded) overrideRequestHeaders(headers, request.headers, [toCookieChange(cookies)])
}

/** Returns the exchange of a `NextRequest` or any other Web request. */
export function toExchange(request: Request, canWrite: boolean): Exchange {
  return toWebExchange(
    request,
    () => canWrite,
    () => toRequestView(request),
  )
}

/** Binds a `NextRequest` or any other Web request, and the response for its cookies, if there is one. */
export function bindWeb(request: Request, target?: WebTarget): Binding {
  const exchange = toExchange(request, target !== undefined)
  return {
    exchange,
    commit() {
      if (target) writeCookies(exchange.cookies, request, target)
      return !exchange.cookies.isPending
    },
  }
}

/** Converts a response to `NextResponse`, so that the application can set cookies on it. */
export function toNextResponse(response: Response): NextResponse {
  return response instanceof NextResponse ? response : new NextResponse(response.body, response)
}

/**
 * Returns a response as `NextResponse` with the staged cookies, which it reads from the headers when it is created: each of
 * its own writes would serialize all of them again.
 */
export function withStagedCookies(response: Response, request: Request, cookies: CookieJar): NextResponse {
  if (!(response instanceof NextResponse)) flushOnto(cookies, response.headers)
  const result = toNextResponse(response)
  writeCookies(cookies, request, result)
  return result
}
