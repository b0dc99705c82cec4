import { randomBytes, randomUUID } from 'node:crypto'

/** An account at an upstream provider whose tokens a user has put into this provider's hands. */
export interface ConnectedAccount {
  readonly id: string
  readonly connection: string
  /** What `login_hint` chooses it by; a user has one account of a name per connection. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** Seconds since the epoch; from then on it hands out no tokens. Default never. */
  readonly expiresAt?: number
}

/** What is known of an account before it is connected. */
export type NewAccount = Pick<ConnectedAccount, 'connection' | 'name' | 'scopes' | 'expiresAt'>

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
  readonly name: string
}

export type ConnectWish = Omit<ConnectRequest, 'ticket' | 'authSession' | 'expiresAt'>

export interface Page {
  readonly accounts: readonly ConnectedAccount[]
  /** Where the next page starts; absent on the last one. */
  readonly next?: number
}

export interface PageRequest {
  readonly take: number
  /** {@link Page.next} of the page before. */
  readonly from?: number
  readonly connection?: string
}

/** The connected accounts of one provider, and the requests on the way there. */
export interface AccountVault {
  /** In the order in which they were connected. */
  list(sub: string): readonly ConnectedAccount[]
  page(sub: string, request: PageRequest): Page
  /** Connects an account; one of the same connection and name keeps its id. */
  connect(sub: string, account: NewAccount): ConnectedAccount
  /** False: the user has no such account. */
  disconnect(sub: string, id: string): boolean
  /** Whether the user ever connected an account of that connection. */
  hasUsed(sub: string, connection: string): boolean

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

/** An account and its place in the order of all, which survives what happens to others between two pages. */
interface Entry {
  readonly place: number
  readonly account: ConnectedAccount
}

function token(): string {
  return randomBytes(24).toString('base64url')
}

/** An empty vault whose requests expire by the given clock (seconds). */
export function createAccountVault(now: () => number): AccountVault {
  const entries = new Map<string, readonly Entry[]>()
  const used = new Set<string>()
  const waiting = new Map<string, ConnectRequest>()
  const accepted = new Map<string, AcceptedRequest>()

  let places = 0

  const entriesOf = (sub: string): readonly Entry[] => entries.get(sub) ?? []
  const usedKey = (sub: string, connection: string): string => JSON.stringify([sub, connection])
  const live = <T extends ConnectRequest>(request: T | undefined): T | undefined =>
    request && request.expiresAt > now() ? request : undefined
  const sweep = (requests: Map<string, ConnectRequest>): void => {
    for (const [key, request] of requests) if (!live(request)) requests.delete(key)
  }

  return {
    list: (sub) => entriesOf(sub).map(({ account }) => account),
    page: (sub, { take, from = 0, connection }) => {
      const rest = entriesOf(sub)
        .filter(({ place }) => place >= from)
        .filter(({ account }) => connection === undefined || account.connection === connection)
      const next = rest[take]?.place
      return {
        accounts: rest.slice(0, take).map(({ account }) => account),
        ...(next === undefined ? {} : { next }),
      }
    },
    connect: (sub, account) => {
      const isSame = ({ account: known }: Entry): boolean =>
        known.connection === account.connection && known.name === account.name
      const before = entriesOf(sub)
      const id = before.find(isSame)?.account.id ?? `cac_${randomUUID().replaceAll('-', '')}`
      const connected: ConnectedAccount = { id, ...account, createdAt: now() }
      places += 1
      entries.set(sub, [...before.filter((entry) => !isSame(entry)), { place: places, account: connected }])
      used.add(usedKey(sub, account.connection))
      return connected
    },
    disconnect: (sub, id) => {
      const before = entriesOf(sub)
      const after = before.filter(({ account }) => account.id !== id)
      entries.set(sub, after)
      return after.length < before.length
    },
    hasUsed: (sub, connection) => used.has(usedKey(sub, connection)),
    open: (wish, ttl) => {
      sweep(waiting)
      sweep(accepted)
      const request = { ...wish, ticket: token(), authSession: token(), expiresAt: now() + ttl }
      waiting.set(request.ticket, request)
      return request
    },
    waiting: (ticket) => live(waiting.get(ticket)),
    accept: (request, name, ttl) => {
      waiting.delete(request.ticket)
      const result = { ...request, name, connectCode: token(), expiresAt: now() + ttl }
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
