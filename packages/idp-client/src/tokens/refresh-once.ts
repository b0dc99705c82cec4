import type { Config } from '../config/config.ts'
import { OAuthError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Clock } from '../lib/clock.ts'
import { monotonic } from '../lib/clock.ts'
import { processWide } from '../lib/registry.ts'
import type { RequestScope } from '../lib/request-scope.ts'
import { outsideRequest, requestScope } from '../lib/request-scope.ts'
import type { SharedRun } from '../lib/shared-run.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { withChanges } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { countFurtherTokens, MAX_FURTHER_TOKENS } from '../session/model/stored-session.ts'
import type { DistributedSessions, SessionStorage } from '../session/storage.ts'
import type { Redemption, TokenFamily } from './token-family.ts'
import {
  advance,
  deferPersistence,
  dropUnused,
  findFamily,
  openFamily,
  recordSend,
  settleSend,
  tokenKey,
} from './token-family.ts'

/** The part of the starting request that a redemption may use. */
export interface RedemptionContext {
  /** Scope for hooks of the application; the redemption itself runs outside the scope of the request. */
  readonly scope: RequestScope
  /** Called when the response is late. Returns for how many more milliseconds to wait for it. */
  readonly onOverdue: (error: Error) => number
  /** Called when the refresh token is sent. */
  readonly onRequest: () => void
  /** Called when the response has arrived, and only steps of this process follow. */
  readonly onResponse: () => void
}

export interface RefreshOnce {
  readonly session: StoredSession
  /** Its refresh token. */
  readonly refreshToken: string
  /** Tag of provider and client. */
  readonly clientTag: string
  /** Key of the purpose: calls with the same one share a redemption. */
  readonly purpose: string
  readonly clock: Clock
  /** Returns whether another request has already stored the requested token in the session. */
  readonly isSatisfiedBy: (session: StoredSession) => boolean
  /** Present if the sessions are in a store: redeems under the lock of the session. */
  readonly distributed?: DistributedSessions
  /** How long a call waits for the redemption of another one, in milliseconds: `httpTimeout`. */
  readonly patience: number
  /** Keeps the session after a late response, since its callers may have left. */
  readonly keepLate?: (family: TokenFamily, session: StoredSession) => void
  /** Reports the failure of a redemption whose response was late. */
  readonly reportLate?: (error: unknown) => void
  /** Redeems the refresh token of the given session, which may be a successor of `session`. */
  readonly redeem: (
    session: StoredSession,
    refreshToken: string,
    context: RedemptionContext,
  ) => Promise<Redemption>
}

export interface Refreshing {
  readonly family: TokenFamily
  readonly redemption: Promise<Redemption>
}

/** Applies the changes that other requests saved during the redemption. */
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
 * the session in the store may be newer than the one that this process refreshed.
 */
function latestKnown({ latest }: TokenFamily, { session, distributed }: RefreshOnce): StoredSession {
  const isSameToken = latest.data.tokenSet.refreshToken === session.data.tokenSet.refreshToken
  return distributed && isSameToken && latest.usedAt < session.usedAt ? session : latest
}

/**
 * Called when a response is late, with the error for the callers. Returns for how many more milliseconds to wait for it, at
 * most `limit`.
 */
type OnOverdue = (error: Error, limit: number) => number

interface RunOptions extends Omit<RedemptionContext, 'onOverdue'> {
  readonly onOverdue: OnOverdue
}

const overdue = (): OAuthError =>
  new OAuthError('REQUEST_TIMEOUT', { detail: 'An earlier refresh of this session has no response yet.' })

/** How many responses to one refresh token may be lost with their requests. */
const MAX_LOST = 2

/** Redeems a refresh token, unless it was sent before by requests that ended without seeing a response. */
async function send(
  family: TokenFamily,
  redeem: (onRequest: () => void) => Promise<Redemption>,
): Promise<Redemption> {
  if (family.lost >= MAX_LOST) throw overdue()
  let isSent = false
  try {
    return await redeem(() => {
      if (!isSent) recordSend(family)
      isSent = true
    })
  } finally {
    if (isSent) settleSend(family)
  }
}

async function run(
  family: TokenFamily,
  request: RefreshOnce,
  { onOverdue, ...options }: RunOptions,
): Promise<Redemption> {
  const { clientTag, clock, distributed } = request
  const { latest } = family
  const before = latestKnown(family, request)
  const spent = before.data.tokenSet.refreshToken ?? request.refreshToken
  const redeemFrom = async (now: StoredSession, until = Number.POSITIVE_INFINITY): Promise<Redemption> => {
    const { refreshToken } = now.data.tokenSet
    const isServed = now !== request.session && (!refreshToken || request.isSatisfiedBy(now))
    if (isServed) return { session: now }
    return send(family, (onSent) =>
      request.redeem(now, refreshToken ?? request.refreshToken, {
        ...options,
        onOverdue: (error) => onOverdue(error, until - monotonic()),
        onRequest() {
          onSent()
          options.onRequest()
        },
      }),
    )
  }
  if (before !== request.session && request.isSatisfiedBy(before)) return { session: before }
  const result = await (distributed
    ? distributed.exclusively(before, redeemFrom, family.lost > 0)
    : redeemFrom(before))
  if (result.session === before) return result
  const redeemed = { ...result, session: withUpdates(result.session, latest, family.latest) }
  const successor = redeemed.session.data.tokenSet.refreshToken
  const from = await tokenKey(clientTag, spent)
  const to = successor === undefined ? undefined : await tokenKey(clientTag, successor)
  advance(family, redeemed.session, { from, ...(to === undefined ? {} : { to }) }, clock())
  return redeemed
}

/** Maximum number of late responses that this process waits for at a time. */
const MAX_LATE = 1000

interface Redemptions {
  /** How many responses are late. */
  late: number
}

const redemptions = (): Redemptions => processWide('queue:redemptions/2', () => ({ late: 0 }))

/**
 * Waits for the redemptions that were there before. Throws `REQUEST_TIMEOUT` when the time is over and one of them may still
 * be running.
 */
async function takeTurn(before: readonly SharedRun<Redemption>[], milliseconds: number): Promise<void> {
  const end = monotonic() + milliseconds
  for (const run of before) {
    if (!(await run.hasEnded(end - monotonic()))) throw overdue()
  }
}

/** Returns the redemptions of a family. They are deleted when the last one has ended. */
function openFlights(family: TokenFamily): SingleFlight<Redemption> {
  const onIdle = (): void => {
    family.flights = undefined
    dropUnused(family)
  }
  family.flights ??= new SingleFlight(onIdle)
  return family.flights
}

/**
 * Runs a redemption in turn, or joins the one for the same purpose. If its response is late, callers get an error, and the
 * response is still waited for, since the provider may have rotated the token.
 */
function inTurn(family: TokenFamily, request: RefreshOnce, scope: RequestScope): Promise<Redemption> {
  const { keepLate, patience, purpose, reportLate } = request
  const flights = openFlights(family)
  const state = redemptions()

  async function task(flight: SharedRun<Redemption>): Promise<Redemption> {
    let isLate = false

    const onOverdue: OnOverdue = (error, limit) => {
      const milliseconds = Math.min(3 * patience, limit)
      if (milliseconds <= 0 || state.late >= MAX_LATE || !flight.dismiss(error)) return 0
      isLate = true
      // The request may end before the response arrives.
      scope.release()
      state.late += 1
      flight.extend(milliseconds)
      return milliseconds
    }

    try {
      await takeTurn(flights.all(), patience)
      flight.extend(patience)
      const redemption = await run(family, request, {
        onOverdue,
        onRequest: () => flight.extend(patience),
        // A second redemption would lose the session, so the hooks of the application get time.
        onResponse: () => flight.extend(4 * patience),
        scope,
      })
      // Callers may have left: a rejection must not be unhandled.
      if (isLate && !family.closed) keepLate?.(family, redemption.session)
      return redemption
    } catch (error) {
      if (isLate) reportLate?.(error)
      throw error
    } finally {
      if (isLate) state.late -= 1
    }
  }

  return flights.run(purpose, task, { patience, overdue })
}

async function startRefresh(given: RefreshOnce, scope: RequestScope): Promise<Refreshing> {
  const { stale, ...session } = given.session
  // The older copy belongs to one request, not to the others that share this session.
  const request = stale ? { ...given, session } : given
  const { clientTag, clock, refreshToken } = request
  const key = await tokenKey(clientTag, refreshToken)
  const family = findFamily(key, request.session, clock()) ?? openFamily(key, request.session)
  return { family, redemption: inTurn(family, request, scope) }
}

/**
 * Redeems a refresh token once for all requests of this process. Requests with the same purpose share the redemption and its
 * failure; a request with another purpose waits and redeems the successor. Sessions share nothing: the key is a hash of
 * provider, client and refresh token, and the family compares the session key. The redemption runs outside the scope of the
 * request, which it would otherwise keep reachable.
 */
export function refreshOnce(given: RefreshOnce): Promise<Refreshing> {
  const scope = requestScope()
  return outsideRequest(() => startRefresh(given, scope))
}

export interface PersistParts {
  readonly config: Config
  readonly sessions: SessionStorage
}

export interface PendingRefresh {
  readonly family: TokenFamily
  readonly session: StoredSession
}

/** Limits the size of a session that cannot be written for a long time. */
async function limitTokens(config: Config, family: TokenFamily): Promise<void> {
  if (countFurtherTokens(family.latest) <= MAX_FURTHER_TOKENS) return
  const { withFewerTokens } = await import('../session/model/further-tokens.ts')
  family.latest = withFewerTokens(family.latest, config)
}

/** Persists the tokens of a redemption: with this response, or in this process until a response can carry them. */
export async function persist(
  { config, sessions }: PersistParts,
  exchange: Exchange,
  { family, session }: PendingRefresh,
): Promise<void> {
  if (sessions.distributed) {
    // The redemption has written it.
    await sessions.distributed.adopt(exchange, session)
    return
  }
  // The session ended while its token was redeemed: saving it would undo a logout or another login.
  if (family.closed) return
  // Until a response has carried its cookie, only this process has the new tokens.
  deferPersistence(config, family, session)
  if (!exchange.canWrite()) return limitTokens(config, family)
  try {
    await sessions.save(exchange, session)
  } catch (error) {
    // The rotated token stays in this process, and the call still returns its access token.
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
