import type { RequestView } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { forwarded, isLoopback } from './base-url.ts'
import { parseHost } from './http-url.ts'

/** Where a request arrived. Kept in the `state` of a login, to explain a callback without a transaction. */
export interface RequestPlace {
  /** Host of the application's base URL. */
  readonly host: string
  /** Host name that the browser requested, as far as the request tells; absent if it is that of the base URL. */
  readonly requestHost?: string
}

/**
 * Returns where a request arrived. Reads a forwarded header even where `trustProxy` is off: nothing but the name of an error
 * depends on it.
 */
export function toRequestPlace(baseUrl: string, request: RequestView): RequestPlace {
  const { host, hostname } = new URL(baseUrl)
  const named = forwarded(request, 'x-forwarded-host') ?? request.headers.get('host') ?? request.url?.host
  const seen = named === undefined ? null : parseHost(named)
  const requestHost = seen === null ? hostname : new URL(`http://${seen}`).hostname
  return defined({ host, requestHost: requestHost === hostname ? undefined : requestHost })
}

/** Addresses of private networks: RFC 1918, RFC 6598, link-local, RFC 4193. */
const PRIVATE_ADDRESS =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)[\d.]+$|^\[f(?:[cd]|e[89ab])[0-9a-f]{2}:/
const PRIVATE_NAME = /\.(?:internal|local|localdomain|lan|intranet|private|home\.arpa)$/

/** Returns whether a host name exists only inside a network: loopback, a private address, or a name without a public domain. */
export function isInternal(hostname: string): boolean {
  if (isLoopback(hostname) || PRIVATE_ADDRESS.test(hostname) || PRIVATE_NAME.test(hostname)) return true
  return !hostname.includes('.') && !hostname.startsWith('[')
}

/**
 * Returns whether two requests, as the browser sent them, were for different hosts. Without a proxy between, one of them
 * is the host of the base URL; a host that only a proxy uses does not count.
 */
export function areOtherHosts(start: RequestPlace, end: RequestPlace): boolean {
  if (start.host !== end.host) return true
  const { requestHost: startHost } = start
  const { requestHost: endHost } = end
  if ((startHost === undefined) === (endHost === undefined)) return false
  const { hostname } = new URL(`http://${end.host}`)
  return isInternal(hostname) || !isInternal(startHost ?? endHost ?? hostname)
}
