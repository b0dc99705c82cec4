import type { Clock } from '../lib/clock.ts'
import { withChanges } from '../session/session.ts'
import type { SharedSessions } from '../session/storage.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { Line } from './lineage.ts'
import { advance, dropUnused, findLine, openLine, tokenKey } from './lineage.ts'
import type { Entry } from './select.ts'

/** What a redemption came to. With a `failure` the session has changed all the same: its dead token is gone. */
export interface Redemption {
  readonly session: StoredSession
  /** The token that it brought, which the session need not hold. */
  readonly entry?: Entry
  readonly failure?: unknown
}

export interface RefreshOnce {
  readonly session: StoredSession
  /** Its refresh token. */
  readonly refreshToken: string
  /** Tag of provider and client. */
  readonly client: string
  /** Tells apart what tokens are redeemed for: audience, scope, key binding. */
  readonly purpose: string
  readonly clock: Clock
  /** Whether another request has brought already what is wanted here. */
  readonly isSatisfiedBy: (session: StoredSession) => boolean
  /** Where processes share sessions: redeems from what the session is now, alone, and keeps what comes of it. */
  readonly shared?: SharedSessions
  /** Redeems the refresh token of the given session, which may be a successor of `session`. */
  readonly redeem: (session: StoredSession, refreshToken: string) => Promise<Redemption>
}

export interface Refreshing {
  readonly line: Line
  readonly redemption: Promise<Redemption>
}

/** What other requests saved while the redemption was under way is not undone by it. */
function withUpdates(
  redeemed: StoredSession,
  before: StoredSession,
  meanwhile: StoredSession,
): StoredSession {
  if (meanwhile === before) return redeemed
  const data = withChanges({ current: redeemed.data, found: before.data, changes: meanwhile.data })
  return { ...redeemed, data }
}

/**
 * Where to go on from: the line has the successor of a token that is spent. Where tokens do not rotate, what was read
 * from a shared place may be newer than what this process refreshed lately.
 */
function startOf({ latest }: Line, { session, shared }: RefreshOnce): StoredSession {
  const isSameToken = latest.data.tokenSet.refreshToken === session.data.tokenSet.refreshToken
  return shared && isSameToken && latest.usedAt < session.usedAt ? session : latest
}

async function run(line: Line, request: RefreshOnce): Promise<Redemption> {
  const { client, clock, shared } = request
  const { latest } = line
  const before = startOf(line, request)
  const spent = before.data.tokenSet.refreshToken ?? request.refreshToken
  const redeemFrom = async (now: StoredSession): Promise<Redemption> => {
    const { refreshToken } = now.data.tokenSet
    const isServed = now !== request.session && (!refreshToken || request.isSatisfiedBy(now))
    return isServed ? { session: now } : request.redeem(now, refreshToken ?? request.refreshToken)
  }
  if (before !== request.session && request.isSatisfiedBy(before)) return { session: before }
  const result = await (shared ? shared.exclusively(before, redeemFrom) : redeemFrom(before))
  if (result.session === before) return result
  const redeemed = { ...result, session: withUpdates(result.session, latest, line.latest) }
  const successor = redeemed.session.data.tokenSet.refreshToken
  const from = await tokenKey(client, spent)
  const to = successor === undefined ? undefined : await tokenKey(client, successor)
  advance(line, redeemed.session, { from, ...(to === undefined ? {} : { to }) }, clock())
  return redeemed
}

/**
 * Redeems a refresh token once, however many requests of this process carry it: those that want the same share one
 * redemption and its failure, those that want something else wait and redeem the successor. Nothing is shared between
 * sessions: the key is a hash of provider, client and refresh token, and the line checks the session's private handle.
 */
export async function refreshOnce(request: RefreshOnce): Promise<Refreshing> {
  const { client, clock, purpose, refreshToken, session } = request
  const key = await tokenKey(client, refreshToken)
  const line = findLine(key, session, clock()) ?? openLine(key, session)
  const joined = line.flights.get(purpose) as Promise<Redemption> | undefined
  if (joined) return { line, redemption: joined }
  const flight = line.tail.then(() => run(line, request))
  line.flights.set(purpose, flight)
  const landed = (): void => {
    line.flights.delete(purpose)
    dropUnused(key, line)
  }
  line.tail = flight.then(landed, landed)
  return { line, redemption: flight }
}
