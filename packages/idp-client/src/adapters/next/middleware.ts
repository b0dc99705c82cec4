import type { NextRequest } from 'next/server.js'
import { NextResponse } from 'next/server.js'
import type { Application } from '../../engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { passThrough } from '../../routes/pass-through.ts'
import { repeatCookies } from './ambient.ts'
import { continueWith } from './continue.ts'
import { overrideRequestHeaders, RETURN_PATH } from './forward.ts'
import { bindWeb, toNextResponse, writeCookies } from './web.ts'

/** Another middleware; its result is a response, or nothing. */
export type NextStep = (request: NextRequest) => unknown

/** Next's router adds a parameter to what it fetches, which the address of the page does not have. */
function withoutRouterParameter(search: string): string {
  return search.includes('_rsc=')
    ? search.replace(/([?&])_rsc=[^&]*(?:&|$)/, '$1').replace(/[?&]$/, '')
    : search
}

/** Path and query of a page as the browser shows them; null for any other request. */
function returnPath({ pathname, search }: URL): string | null {
  // Where Next is told not to normalise, this is where data of pages is fetched from: their guards know the address.
  if (pathname.includes('/_next/')) return null
  return pathname + withoutRouterParameter(search)
}

/**
 * Forwards the path with every request, since a guard may also reject a signed-in user; removes any value that was
 * sent.
 */
function proceed(exchange: Exchange, request: Request): NextResponse {
  const response = NextResponse.next()
  const { headers, url } = exchange.request
  const path = url && returnPath(url)
  if (path !== null || headers.has(RETURN_PATH)) {
    overrideRequestHeaders(response.headers, headers, [[RETURN_PATH, path]])
  }
  writeCookies(exchange.cookies, request, response)
  return response
}

async function respond(
  application: Application,
  exchange: Exchange,
  request: Request,
  next: unknown,
): Promise<NextResponse> {
  const answered = await dispatch(application, exchange, request)
  if (answered) return toNextResponse(answered)
  await passThrough(application, exchange)
  const continued = proceed(exchange, request)
  // Next passes its own event as second argument when the method itself is exported as proxy.
  if (typeof next !== 'function') return continued
  const response = await (next as NextStep)(request as NextRequest)
  return response instanceof Response ? continueWith(continued, response) : continued
}

/** Answers auth routes; lets every other request pass, to `next` first, where there is one. */
export async function runMiddleware(
  application: Application,
  request: Request,
  next?: unknown,
): Promise<NextResponse> {
  const exchange: Exchange = { ...bindWeb(request).exchange, canWrite: () => true }
  const response = await respond(application, exchange, request, next)
  writeCookies(exchange.cookies, request, response)
  await repeatCookies(request, response)
  return response
}
