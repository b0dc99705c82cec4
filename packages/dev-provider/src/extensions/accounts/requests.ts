import { randomBytes } from 'node:crypto'

/** A user's wish to connect an account, from the first call of the application to the last. */
export interface ConnectRequest {
  /** Names the request in the browser. */
  readonly ticket: string
  /** Names the request in the application. */
  readonly authSession: string
  readonly sub: string
  readonly clientId: string
  readonly connection: string
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly state: string
  /** S256 (RFC 7636). */
  readonly codeChallenge: string
  /** Name that the page suggests. */
  readonly hint?: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** A request that its user has agreed to. */
export interface AcceptedRequest extends ConnectRequest {
  readonly connectCode: string
  /** Name of the account. */
  readonly name: string
}

export type ConnectWish = Omit<ConnectRequest, 'ticket' | 'authSession' | 'expiresAt'>

/** The requests on the way to connected accounts. Each waits for its user first, then for its application. */
export interface ConnectRequests {
  /** `ttl`: seconds until the request is forgotten. */
  open(wish: ConnectWish, ttl: number): ConnectRequest
  /** The request that still waits for its user. */
  waiting(ticket: string): ConnectRequest | undefined
  /** Ends the waiting; the code is good for `ttl` seconds. */
  accept(request: ConnectRequest, name: string, ttl: number): AcceptedRequest
  cancel(request: ConnectRequest): void
  /** The request that waits for its application. */
  accepted(authSession: string): AcceptedRequest | undefined
  /** Ends it. */
  finish(request: AcceptedRequest): void
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}

/** No requests yet; they expire by the given clock (seconds). */
export function createConnectRequests(now: () => number): ConnectRequests {
  const waiting = new Map<string, ConnectRequest>()
  const accepted = new Map<string, AcceptedRequest>()

  const live = <T extends ConnectRequest>(request: T | undefined): T | undefined =>
    request && request.expiresAt > now() ? request : undefined
  const sweep = (requests: Map<string, ConnectRequest>): void => {
    for (const [key, request] of requests) if (!live(request)) requests.delete(key)
  }
  return {
    open: (wish, ttl) => {
      sweep(waiting)
      sweep(accepted)
      const request = { ...wish, ticket: secret(), authSession: secret(), expiresAt: now() + ttl }
      waiting.set(request.ticket, request)
      return request
    },
    waiting: (ticket) => live(waiting.get(ticket)),
    accept: (request, name, ttl) => {
      waiting.delete(request.ticket)
      const result = { ...request, name, connectCode: secret(), expiresAt: now() + ttl }
      accepted.set(request.authSession, result)
      return result
    },
    cancel: (request) => {
      waiting.delete(request.ticket)
    },
    accepted: (authSession) => live(accepted.get(authSession)),
    finish: (request) => {
      accepted.delete(request.authSession)
    },
  }
}
