import type { Clock } from '../lib/clock.ts'
import { withChanges } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { SharedSessions } from '../session/storage.ts'
import type { Entry } from './select.ts'
import type { TokenFamily } from './token-family.ts'
import { advance, dropUnused, findFamily, openFamily, tokenKey } from './token-family.ts'
import type { OnOverdue } from './turns.ts'
import { inTurn } from './turns.ts'

/** The outcome of a redemption. With a `failure` the session has changed as well: its dead token is removed. */
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
  /** Milliseconds that a call waits for a response that is late already. */
  readonly patience: number
  /** Keeps what a late response brought, for which nobody may be waiting any more. */
  readonly keepLate?: (family: TokenFamily, session: StoredSession) => void
  /** Reports that nothing has come of a late response. */
  readonly reportLate?: (error: unknown) => void
  /** Redeems the refresh token of the given session, which may be a successor of `session`. */
  readonly redeem: (
    session: StoredSession,
    refreshToken: string,
    onOverdue: (error: Error) => number,
  ) => Promise<Redemption>
}

export interface Refreshing {
  readonly family: TokenFamily
  readonly redemption: Promise<Redemption>
}

/** Keeps what other requests saved while the redemption was in progress. */
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
 * Returns the session to continue from: the family has the successor of a consumed token. Where tokens do not rotate,
 * what was read from a shared place may be newer than what this process refreshed lately.
 */
function latestKnown({ latest }: TokenFamily, { session, shared }: RefreshOnce): StoredSession {
  const isSameToken = latest.data.tokenSet.refreshToken === session.data.tokenSet.refreshToken
  return shared && isSameToken && latest.usedAt < session.usedAt ? session : latest
}

async function run(family: TokenFamily, request: RefreshOnce, onOverdue: OnOverdue): Promise<Redemption> {
  const { client, clock, shared } = request
  const { latest } = family
  const before = latestKnown(family, request)
  const spent = before.data.tokenSet.refreshToken ?? request.refreshToken
  const redeemFrom = async (now: StoredSession, until = Number.POSITIVE_INFINITY): Promise<Redemption> => {
    const { refreshToken } = now.data.tokenSet
    const isServed = now !== request.session && (!refreshToken || request.isSatisfiedBy(now))
    if (isServed) return { session: now }
    return request.redeem(now, refreshToken ?? request.refreshToken, (error) =>
      onOverdue(error, until - performance.now()),
    )
  }
  if (before !== request.session && request.isSatisfiedBy(before)) return { session: before }
  const result = await (shared ? shared.exclusively(before, redeemFrom) : redeemFrom(before))
  if (result.session === before) return result
  const redeemed = { ...result, session: withUpdates(result.session, latest, family.latest) }
  const successor = redeemed.session.data.tokenSet.refreshToken
  const from = await tokenKey(client, spent)
  const to = successor === undefined ? undefined : await tokenKey(client, successor)
  advance(family, redeemed.session, { from, ...(to === undefined ? {} : { to }) }, clock())
  return redeemed
}

/**
 * Redeems a refresh token once, however many requests of this process carry it: those that want the same share one
 * redemption and its failure, those that want something else wait and redeem the successor. Nothing is shared between
 * sessions: the key is a hash of provider, client and refresh token, and the line checks the session's private handle.
 */
export async function refreshOnce(given: RefreshOnce): Promise<Refreshing> {
  const { stale: behind, ...session } = given.session
  // How far the browser is behind concerns one request, and no other that is led to this session.
  const request = behind ? { ...given, session } : given
  const { client, clock, keepLate, patience, purpose, refreshToken, reportLate } = request
  const key = await tokenKey(client, refreshToken)
  const family = findFamily(key, request.session, clock()) ?? openFamily(key, request.session)
  const redemption = inTurn<Redemption>(family, {
    purpose,
    patience,
    run: (onOverdue) => run(family, request, onOverdue),
    onLateLanding: ({ session: redeemed }) => {
      if (!family.closed) keepLate?.(family, redeemed)
    },
    ...(reportLate ? { onLateFailure: reportLate } : {}),
    onEnd: () => dropUnused(key, family),
  })
  return { family, redemption }
}
