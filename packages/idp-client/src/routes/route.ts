import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Links } from './links.ts'

/** A request to a mounted route. */
export interface RouteRequest {
  readonly exchange: Exchange
  /** Query of the request, including repeated keys. */
  readonly query: URLSearchParams
  /** The host's own request object, passed to hooks. */
  readonly hostRequest: unknown
  /** Correlation id of log events and failure pages. */
  readonly id: string
  /** Pages show cause and fix: `NODE_ENV` is `development` or `test`. */
  readonly development: boolean
}

export interface Route {
  readonly methods: readonly string[]
  /**
   * Requests that the route accepts: navigations only, navigations except cross-site ones, anything but a prefetch,
   * anything that is not cross-site, iframes only, which the route checks itself, or any request.
   */
  readonly acts:
    | 'on-navigation'
    | 'on-own-navigation'
    | 'not-on-prefetch'
    | 'not-cross-site'
    | 'in-iframe'
    | 'on-any-request'
  /** Its responses are the same for everybody, at any address of the application, and may be cached, unless they are errors. */
  readonly isPublic?: true
  /**
   * Loads the handler. Routes that talk to the provider are loaded at their first request, so that an application whose
   * users are all signed in never loads the protocol code.
   */
  readonly load: () => Promise<RouteHandler>
}

export interface RouteHandler {
  readonly handle: (engine: Engine, request: RouteRequest) => Promise<Response>
  /** Converts an error to a response. */
  readonly fail: (error: IdpError, request: RouteRequest, links: Links) => Response
}

/** Returns parameters by name; of repeated ones the last value. */
export function lastValues(params: URLSearchParams): Map<string, string> {
  return new Map(params)
}
