import type { NextRequest } from 'next/server.js'
import { NextResponse } from 'next/server.js'
import type { Application } from '../../engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { assertNotServed, openRequest } from '../../http/host-state.ts'
import { wantsJson } from '../../http/request-kind.ts'
import { empty } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain, conclude } from '../../lib/chain.ts'
import { matchRoute, runRoute, serveMetadata } from '../../routes/dispatch.ts'
import { mayCarrySession, passThrough } from '../../routes/pass-through.ts'
import { mayLoseRefresh } from './action-redirect.ts'
import { repeatCookies } from './ambient.ts'
import { continueWith } from './continue.ts'
import { forwardedNames, overrideRequestHeaders, RETURN_PATH, withoutRouterParameter } from './forward.ts'
import { markReached } from './mount-check.ts'
import { mayHavePageGuards } from './page-guards.ts'
import {
  MOUNT_LINE,
  toExchange,
  toNextResponse,
  toRequestView,
  withStagedCookies,
  writeCookies,
} from './web.ts'

/** Another middleware; returns a response or nothing. */
export type NextStep = (request: NextRequest) => unknown

/** Returns path and query of a page as the browser shows them, or `null` if the request is not for a page. */
function returnPath({ pathname, search }: URL): string | null {
  // With URL normalization turned off, this is the URL of page data; guards derive the page's URL themselves.
  if (pathname.includes('/_next/')) return null
  return pathname + withoutRouterParameter(search)
}

/**
 * Returns whether the request may render a page: a navigation, or a fetch, since Next.js hides from its proxy which fetches
 * are of its router.
 */
function mayRenderPage(headers: Headers): boolean {
  if (headers.get('sec-fetch-mode') === 'navigate') return true
  const destination = headers.get('sec-fetch-dest')
  return (destination === null || destination === 'empty') && !wantsJson(headers)
}

/** Returns whether a page guard may need the path. In development pages are loaded late, and `reportUnreached` looks for it. */
function isPathNeeded({ settings }: Application, headers: Headers): boolean {
  return mayRenderPage(headers) && (settings.development || mayHavePageGuards())
}

/**
 * Continues with the request. Forwards the page's path, for guards; they may redirect signed-in users too. A value from the
 * client is always overwritten. Every forwarded header costs time, so requests for which no guard runs are not changed.
 */
function continueRequest(application: Application, request: Request): NextResponse {
  const response = NextResponse.next()
  const { headers } = request
  const path = isPathNeeded(application, headers) ? returnPath(new URL(request.url)) : null
  if (path !== null || headers.has(RETURN_PATH)) {
    overrideRequestHeaders(response.headers, headers, [[RETURN_PATH, path]])
  }
  return response
}

/** A request that the middleware of a client serves. */
interface Served {
  readonly application: Application
  readonly exchange: Exchange
  readonly request: Request
}

/** Runs the rest of a middleware, inside which another call for the same request is a second mount. */
function serve<T>({ application, exchange, request }: Served, rest: () => MaybePromise<T>): MaybePromise<T> {
  // The middleware writes the cookies when it returns.
  const binding = { exchange, commit: () => true }
  return conclude(rest, openRequest(request, binding, application, MOUNT_LINE))
}

/** Passes a request on, to `next` if it is a function: Next.js passes its own event if the method is exported as proxy. */
function continueTo(next: unknown, served: Served): MaybePromise<NextResponse> {
  const { application, exchange, request } = served
  const continued = continueRequest(application, request)
  // To forward the deletion of a cookie that contains no session is not worth the time.
  const isForwarded =
    forwardedNames(continued.headers) !== null ||
    exchange.cookies.pending().some(({ attributes }) => attributes.maxAge !== 0)
  // Written before `next` runs; the caller writes what `next` stages.
  writeCookies(exchange.cookies, request, continued, isForwarded)
  if (typeof next !== 'function') return continued
  return chain(
    serve(served, () => (next as NextStep)(request as NextRequest)),
    (response) => (response instanceof Response ? continueWith(continued, response) : continued),
  )
}

/** Responds to requests for auth routes; lets every other request pass, to `next` first if there is one. */
export async function runMiddleware(
  application: Application,
  request: Request,
  next?: unknown,
): Promise<NextResponse> {
  assertNotServed(request, application)
  markReached()
  const view = toRequestView(request)
  const route = matchRoute(application.settings, view)
  const document = route === null ? serveMetadata(application, view) : null
  if (document) return toNextResponse(await document)
  // Most requests need none of what follows.
  if (route === null && typeof next !== 'function' && !mayCarrySession(application, request.headers))
    return continueRequest(application, request)
  const exchange = toExchange(request, true)
  const { cookies } = exchange
  const served = { application, exchange, request }
  const response =
    route === null
      ? chain(passThrough(application, exchange), () =>
          chain(mayLoseRefresh(application, exchange), (isLost) =>
            isLost ? toNextResponse(empty(204)) : continueTo(next, served),
          ),
        )
      : serve(served, () => runRoute(application, route, exchange, request))
  return chain(response, (final) => {
    const complete = withStagedCookies(final, request, cookies)
    return complete.headers.has('set-cookie') ? repeatCookies(request, complete) : complete
  })
}
