import type { NextResponse } from 'next/server.js'
import { cookieHeader, parseCookies } from '../../http/cookie-text.ts'
import { noStore } from '../../http/responses.ts'
import {
  forwardedNames,
  forwardedValue,
  forwardsRequest,
  overrideRequestHeaders,
  RETURN_PATH,
} from './forward.ts'
import { toNextResponse } from './web.ts'

/** Headers of a continue response that keep its cookies out of caches where a page replaces `Cache-Control`. */
const CARRIED = ['vary', 'cdn-cache-control'] as const

/** Returns the `Cookie` header that `response` forwards with the request, after the writes of `continued`. */
function cookiesAfter(continued: NextResponse, response: Headers, fallback: string | null): string {
  const cookies = new Map(parseCookies(forwardedValue(response, 'cookie') ?? fallback))
  for (const { name, value, maxAge } of continued.cookies.getAll()) {
    if (maxAge === 0) cookies.delete(name)
    else cookies.set(name, value)
  }
  return cookieHeader(cookies)
}

/** Adds request headers of `continued`; those that the other response forwards take precedence. */
function mergeRequestHeaders(continued: NextResponse, response: Headers): void {
  const ours = forwardedNames(continued.headers)
  if (!ours) return
  const request = new Headers()
  for (const name of ours) {
    const value = forwardedValue(continued.headers, name)
    if (value !== null) request.set(name, value)
  }
  const writes = continued.cookies.getAll().length > 0
  const cookie = writes ? cookiesAfter(continued, response, request.get('cookie')) : ''
  overrideRequestHeaders(response, request, [
    [RETURN_PATH, request.get(RETURN_PATH)],
    ...(writes ? [['cookie', cookie || null] as const] : []),
  ])
}

/**
 * Returns the response of another middleware (a rewrite, a redirect, `NextResponse.next()`) with the content of a
 * continue response of `idp.middleware`: cookies, the headers that keep them out of caches, and request headers for the
 * application.
 */
export function continueWith(continued: Response, response: Response): NextResponse {
  const ours = toNextResponse(continued)
  const result = toNextResponse(response)
  const cookies = ours.cookies.getAll()
  if (forwardsRequest(result.headers)) mergeRequestHeaders(ours, result.headers)
  for (const cookie of cookies) result.cookies.set(cookie)
  if (cookies.length === 0) return result
  noStore(result.headers)
  for (const name of CARRIED) {
    const value = ours.headers.get(name)
    if (value !== null) result.headers.set(name, value)
  }
  return result
}
