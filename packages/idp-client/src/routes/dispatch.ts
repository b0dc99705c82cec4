import type { RouteKey, Settings } from '../config/config.ts'
import type { Application } from '../engine.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'
import { isCrossSite, isNavigation, isPrefetch } from '../http/request-kind.ts'
import { empty, errorJson, newCorrelationId, noStore } from '../http/responses.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import { isBelow } from '../lib/url.ts'
import { linkPrefix, loginPath } from './links.ts'
import type { Route, RouteRequest } from './route.ts'
import { routeKeys, table } from './table.ts'

/** Returns the path of a request below the base path, or `null` outside the base path. */
export function exactPathBelow(basePath: string, request: RequestView): string | null {
  const full = request.path ?? request.url?.pathname
  if (full === undefined) return null
  // The host has already removed the base path; another one is part of the path.
  if (request.prefix?.endsWith(basePath)) return full || '/'
  const inside = isBelow(basePath, full)
  if (request.path === undefined && !inside) return null
  return (inside ? full.slice(basePath.length) : full) || '/'
}

/** Returns the path of a request below the base path, without one trailing slash, or `null` outside the base path. */
function pathBelow(basePath: string, request: RequestView): string | null {
  const path = exactPathBelow(basePath, request)
  return path?.endsWith('/') ? path.slice(0, -1) : path
}

/** Returns the route of a request. Paths are compared as exact strings, so that no other spelling reaches a route. */
export function matchRoute(settings: Settings, request: RequestView): RouteKey | null {
  const path = pathBelow(settings.basePath, request)
  const key = routeKeys.find((candidate) => settings.routes[candidate] === path)
  return key === undefined || settings.disabledRoutes.has(key) ? null : key
}

/**
 * Returns a response that needs neither configuration nor session (wrong method, prefetch, cross-site request), or
 * `null`.
 */
function rejectEarly(route: Route, request: RequestView): Response | null {
  if (!route.methods.includes(request.method)) return empty(405, { allow: route.methods.join(', ') })
  const { acts } = route
  if (acts === 'on-any-request' || acts === 'in-iframe') return null
  if (acts === 'not-cross-site')
    return isCrossSite(request.headers) ? errorJson(403, 'CROSS_SITE_REQUEST') : null
  if (isPrefetch(request.headers)) return empty(204)
  if (acts === 'on-own-navigation' && isCrossSite(request.headers))
    return errorJson(403, 'CROSS_SITE_REQUEST')
  if (acts === 'not-on-prefetch' || isNavigation(request.headers)) return null
  return errorJson(403, 'NAVIGATION_REQUIRED')
}

async function respond(application: Application, key: RouteKey, request: RouteRequest): Promise<Response> {
  const { settings } = application
  const { handle, fail } = await table[key].load()
  try {
    const engine = application.engine()
    if (!table[key].isPublic) engine.checkAddress(request.exchange)
    return await handle(engine, request)
  } catch (thrown) {
    const { asIdpError, reportResponse } = await import('../log/failure.ts')
    const error = asIdpError(thrown)
    const prefix = linkPrefix(application, request.exchange)
    const failed = await fail(error, request, {
      home: `${prefix}/`,
      login: loginPath(prefix, settings.routes),
    })
    reportResponse(settings.log, error, { route: key, status: failed.status, id: request.id })
    return failed
  }
}

/**
 * Responds to a request for a route. Every response, except for a public document, is uncacheable and carries what the route staged
 * (a failure still deletes its transaction).
 */
export async function runRoute(
  application: Application,
  key: RouteKey,
  exchange: Exchange,
  hostRequest: unknown,
): Promise<Response> {
  const response =
    rejectEarly(table[key], exchange.request) ??
    (await respond(application, key, {
      exchange,
      hostRequest,
      query: exchange.request.url?.searchParams ?? new URLSearchParams(),
      id: newCorrelationId(),
      development: application.settings.development,
    }))
  if (!table[key].isPublic) noStore(response.headers)
  return response
}

/** Responds to a request for a mounted route; returns `null` for any other path. */
export function dispatch(
  application: Application,
  exchange: Exchange,
  hostRequest: unknown,
): MaybePromise<Response | null> {
  const key = matchRoute(application.settings, exchange.request)
  return key === null
    ? (serveMetadata(application, exchange.request) ??
        (application.proxies.size > 0 ? serveProxy(application, exchange) : null))
    : runRoute(application, key, exchange, hostRequest)
}

/** Sends on a request for a proxied API; returns `null` for any other path. */
function serveProxy({ proxies }: Application, exchange: Exchange): Promise<Response> | null {
  // Of nested prefixes the longest.
  const found = [...proxies.values()].filter((proxy) => proxy.covers(exchange.request))
  const [proxy] = found.sort((one, other) => other.prefix.length - one.prefix.length)
  return proxy ? proxy.respond(exchange) : null
}

const loadMetadata = lazyPromise(() => import('./resource-metadata.ts'))

/** Responds to a request for the metadata of an API; returns `null` for any other path. */
export function serveMetadata(application: Application, request: RequestView): Promise<Response> | null {
  const { resources, settings } = application
  if (resources.size === 0) return null
  const resource = resources.get(pathBelow(settings.basePath, request) ?? '')
  return resource
    ? loadMetadata().then(({ resourceMetadata }) => resourceMetadata(application, request, resource))
    : null
}
