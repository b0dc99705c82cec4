import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'

/** One request to a mounted route. */
export interface RouteRequest {
  readonly exchange: Exchange
  /** Query of the request; repeated keys are all there. */
  readonly query: URLSearchParams
  /** The request as the host knows it, handed to hooks. */
  readonly hostRequest: unknown
  /** Correlates log events with what the visitor was shown. */
  readonly id: string
  /** Pages say what went wrong and what helps: `NODE_ENV` is `development` or `test`. */
  readonly development: boolean
}

export interface Route {
  readonly methods: readonly string[]
  /**
   * What a browser must mean by the request: only navigations change anything, only those that no other site has begun,
   * anything but a prefetch, anything that no other site makes it send, or whatever it is.
   */
  readonly acts:
    | 'on-navigation'
    | 'on-own-navigation'
    | 'not-on-prefetch'
    | 'not-cross-site'
    | 'on-any-request'
  /**
   * Loads what answers. Routes that speak to the provider are loaded at their first request: an application whose
   * users are all signed in never pays for the protocol.
   */
  readonly load: () => Promise<RouteHandler>
}

export interface RouteHandler {
  readonly handle: (engine: Engine, request: RouteRequest) => Promise<Response>
  /** How an error becomes an answer. */
  readonly fail: (error: IdpError, request: RouteRequest, links: Links) => Response
}

/** Ways on that a failure page may offer; places of our own. */
export interface Links {
  readonly home: string
  /** Where to try again; absent where the page that led here is the place for that. */
  readonly login?: string
}
