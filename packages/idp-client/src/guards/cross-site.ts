import { isLoopback } from '../config/base-url.ts'
import type { ApiEngine, Application, Engine } from '../engine.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'

const READING_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** Returns the base URL of the application; `null` if the host of the request does not belong to it. */
function findBaseUrl(engine: ApiEngine, exchange: Exchange): URL | null {
  try {
    return new URL(engine.baseUrl(exchange))
  } catch {
    return null
  }
}

/** Returns the origin of the application; `null` if only a name that anyone could have given to this server says so. */
function ownOrigin(engine: ApiEngine, exchange: Exchange): string | null {
  const baseUrl = findBaseUrl(engine, exchange)
  const isKnown = baseUrl && (engine.config.appBaseUrl.kind !== 'inferred' || isLoopback(baseUrl.host))
  return isKnown ? baseUrl.origin : null
}

/**
 * Returns whether a request comes from a page whose origin is neither that of the application nor among the allowed ones; without
 * such a list all are allowed. A page that binds its own name to this server (DNS rebinding) has an origin of that name.
 */
export function isForeignOrigin(
  application: Application,
  exchange: Exchange,
  allowed: readonly string[] | undefined,
): boolean {
  if (!allowed) return false
  const engine = application.apiEngine()
  const origin = exchange.request.headers.get('origin')
  return origin !== null && !allowed.includes(origin) && origin !== ownOrigin(engine, exchange)
}

/**
 * Returns whether a request says that a page of the application sends it, or that another one does: by `Sec-Fetch-Site` and
 * `Origin`. Undefined if it has neither.
 */
export function isOfOwnPage(engine: Engine, exchange: Exchange): boolean | undefined {
  const { headers } = exchange.request
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return false
  const origin = headers.get('origin')
  if (origin !== null) return origin === findBaseUrl(engine, exchange)?.origin
  return site === null ? undefined : true
}

/**
 * Returns whether a request changes nothing, by the method that arrived and by the one of the handler. A WebSocket may; another site
 * can open one with a GET request, and read what it says.
 */
function isReading({ headers, method, routedMethod = method }: RequestView): boolean {
  const isRead = [method, routedMethod].every((name) => READING_METHODS.includes(name))
  return isRead && headers.get('upgrade')?.toLowerCase() !== 'websocket'
}

/**
 * Returns whether a request with a cookie may come from a page of another site. A browser that sends a cookie with a write names
 * its origin; a request that names none comes from no page.
 */
export function isCrossSite(engine: Engine, exchange: Exchange): boolean {
  const { sameSite } = engine.config.session.cookie
  if (isReading(exchange.request) && sameSite !== 'none') return false
  return isOfOwnPage(engine, exchange) === false
}
