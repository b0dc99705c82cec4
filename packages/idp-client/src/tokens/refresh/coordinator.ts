import type { Config } from '../../config/config.ts'
import { IdpError, isIdpError } from '../../errors/base.ts'
import { isProviderError } from '../../errors/provider.ts'
import { AccessTokenError } from '../../errors/tokens.ts'
import type { Exchange } from '../../http/exchange.ts'
import { monotonic } from '../../lib/clock.ts'
import { defined } from '../../lib/objects.ts'
import type { RequestScope } from '../../lib/request-scope.ts'
import { outliveRequest, outsideRequest, requestScope } from '../../lib/request-scope.ts'
import { reportFailure } from '../../log/failure.ts'
import { hasEndedAtProvider, mergedUse } from '../../session/model/lifetime.ts'
import { withChanges } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { asStored, copySession } from '../../session/model/stored-session.ts'
import type { SessionSlot } from '../../session/session-slot.ts'
import { sessionSlot } from '../../session/session-slot.ts'
import type { DistributedSessions, SessionStorage } from '../../session/storage.ts'
import { endInProcess, hasEnded } from './ended.ts'
import type { FamilyParts, TokenFamily } from './families.ts'
import {
  advance,
  findFamily,
  keepUntilSent,
  NO_SESSION,
  openFamily,
  removeTurn,
  resolveTo,
  tokenKey,
  touch,
} from './families.ts'
import { endExpired, keepAndSave } from './pending-refreshes.ts'
import { redeemInStore, WRITE_RETRY_MILLISECONDS } from './redeem-in-store.ts'
import type { RedemptionResult } from './state.ts'
import { isInProgress } from './state.ts'
import type { Turn } from './turn.ts'
import { createTurn, deadlineAfter, mayBeLate, move, noResponseYet, toResult, waitOrAbandon } from './turn.ts'

export interface RedemptionParts extends FamilyParts {
  readonly sessions: SessionStorage
}

/** The progress of a redemption. */
export interface Progress {
  /** Called when the response is late. Returns for how many more milliseconds to wait for it. */
  readonly onOverdue: (error: Error) => number
  /** Called before each request to the provider. Throws if the session has ended, the lock has expired, or another call has taken over. */
  readonly onRequest: () => void
  /** Called when a response has arrived: hooks, the store, or another request are next. */
  readonly onResponse: () => void
}

/** The purpose of a redemption. */
export interface Purpose {
  readonly session: StoredSession
  /** Its refresh token. */
  readonly refreshToken: string
  /** Calls with the same key share a redemption. */
  readonly key: string
  /** Returns whether another request has already stored the requested token in the session. False for `session` itself. */
  readonly isSatisfiedBy: (session: StoredSession) => boolean
  /**
   * Redeems the refresh token of the given session, which may be a successor of `session`. The redemption itself runs outside the
   * scope of the request, hooks of the application in `requestScope`.
   */
  readonly redeem: (
    session: StoredSession,
    refreshToken: string,
    progress: Progress,
    requestScope: RequestScope,
  ) => Promise<RedemptionResult>
}

/** How many responses to one refresh token may be lost with their requests. */
const MAX_LOST = 2
/** Time reserved at the end of a lock for writing the tokens of a late response, in milliseconds. */
const RESERVED_MILLISECONDS = WRITE_RETRY_MILLISECONDS + 1000

/** Reports a failed refresh that the caller does not receive. */
export function reportFailed({ log }: Config, error: unknown): void {
  reportFailure(log, isProviderError(error) ? failedWith(error) : error)
}

export const failedWith = (cause: unknown): AccessTokenError =>
  new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })

/** Returns whether the application keeps the token itself, in no session. */
const isOfApplication = ({ session }: Purpose): boolean => session.sessionKey === NO_SESSION

/** The parts that a turn uses of the request that started it. Not kept after the turn. */
interface Job {
  readonly parts: FamilyParts
  readonly purpose: Purpose
  readonly turn: Turn
  /** Present if the sessions are in a store. */
  readonly store: DistributedSessions | undefined
  readonly requestScope: RequestScope
}

/**
 * Redeems a refresh token once for all requests of this process, and persists the result for this one: with its response, or
 * in this process until a response can carry it. Calls with the same purpose share the redemption and its failure; a call
 * with another purpose waits and redeems the successor. Sessions share nothing: the key is a hash of provider, client and
 * refresh token, and the family compares the session key. Returns the result with a copy of the session. Throws
 * `MISSING_SESSION` if the session has ended, before or meanwhile, and `SESSION_EXPIRED` if the provider has ended it.
 */
export async function redeemOnce(
  parts: RedemptionParts,
  exchange: Exchange,
  given: Purpose,
): Promise<RedemptionResult> {
  const { needsWrite } = given.session
  const slot = sessionSlot(exchange, parts.config)
  // Awaited before the family is found: it is removed if its only redemption fails meanwhile.
  const store = await parts.sessions.distributed?.()
  const key = await tokenKey(parts, given.refreshToken)
  const purpose = { ...given, session: asStored(latestSaved(slot, given)) }
  // A family that it opens would displace that of another session with the same refresh token.
  if (hasEnded(purpose.session)) throw new IdpError('MISSING_SESSION')
  const family = findFamily(key, purpose.session, parts.config.clock()) ?? openFamily(key, purpose.session)
  const job = { parts, purpose, store, requestScope: requestScope() }
  // Promises and timers would keep the request reachable.
  const result = await outsideRequest(() => joinOrStart(family, job)).catch((error: unknown) => {
    // The end may be that of another process: this request must not send the cookie that it has staged before.
    if (store && isIdpError(error, 'MISSING_SESSION')) slot.current = null
    throw error
  })
  // A background request, which does not record its use, may have redeemed the token for one that does.
  const now = parts.config.clock()
  const usedAt = mergedUse(result.session.usedAt, purpose.session.usedAt, now)
  const session = { ...copySession(result.session), usedAt }
  if (hasEndedAtProvider(session, now)) throw await endExpired(parts, exchange, session)
  // The redemption has written it to the store, but the cookie of this request may still be old.
  if (store) slot.current = needsWrite ? { ...session, needsWrite } : session
  // Without tokens the family has no new session, and no request would find it.
  else if (family.tokens.length > 0)
    await keepAndSave(parts, exchange, family, { found: given.session, session })
  if (family.closed || hasEnded(session)) throw new IdpError('MISSING_SESSION')
  return { ...result, session }
}

/** Returns the session of the purpose, with what its request has saved since that loaded it. */
function latestSaved({ current }: SessionSlot, { refreshToken, session }: Purpose): StoredSession {
  const isSame = current?.sessionKey === session.sessionKey
  return isSame && current.data.tokenSet.refreshToken === refreshToken ? current : session
}

/** Joins the redemption with this purpose, or starts one. If one is lost with its request, the first to notice takes over. */
export async function joinOrStart(family: TokenFamily, given: Omit<Job, 'turn'>): Promise<RedemptionResult> {
  const { httpTimeout } = given.parts.config
  const { key } = given.purpose
  const isSame = (other: Turn): boolean => other.key === key && isInProgress(other.redemption)
  for (let turn = family.turns.find(isSame); turn; turn = family.turns.find(isSame)) {
    const isEarly = !turn.redemption.lateError
    await waitOrAbandon(turn, httpTimeout, isEarly)
    if (turn.redemption.state !== 'abandoned') return toResult(turn, isEarly)
  }
  const earlier = family.turns
  const turn = createTurn(family, key, httpTimeout, (own) => takeTurn({ ...given, turn: own }, earlier))
  family.turns = [...earlier, turn]
  outliveRequest(turn.ended)
  await turn.lateOrEnded
  return toResult(turn, true)
}

/** Waits for the turns before it, redeems, and leaves the result in the state of the turn. Never rejects. */
async function takeTurn(job: Job, earlier: readonly Turn[]): Promise<void> {
  const { parts, purpose, store, turn } = job
  const { httpTimeout, sessionLockTimeout } = parts.config
  try {
    const end = monotonic() + httpTimeout
    for (const other of earlier) await waitOrAbandon(other, end - monotonic(), false)
    // In a store, another process may hold the lock for as long as it lasts.
    move(turn, { type: 'itsTurn', deadline: deadlineAfter(httpTimeout + (store ? sessionLockTimeout : 0)) })
    const result = await redeemLatest(job)
    move(turn, { type: 'settled', result })
    const { session } = result
    // For callers that have left; `redeemOnce` does the rest for each request that is still there.
    if (hasEndedAtProvider(session, parts.config.clock())) await endInProcess(session, turn.family)
    // Its callers may have left. No request of a browser will ever carry tokens of the application.
    if (turn.redemption.lateError && !store && !isOfApplication(purpose) && !hasEnded(session))
      keepUntilSent(parts.config, turn.family, session)
  } catch (error) {
    move(turn, { type: 'failed', error })
    if (turn.redemption.lateError) reportFailed(parts.config, error)
  } finally {
    removeTurn(turn)
  }
}

/** Redeems the latest refresh token of the family, in a store under the lock of the session, and advances the family. */
async function redeemLatest(job: Job): Promise<RedemptionResult> {
  const { parts, purpose, store, turn } = job
  const { family } = turn
  const isSameToken = family.latest.data.tokenSet.refreshToken === purpose.refreshToken
  // A consumed token continues from its successor, which the family has. With the same token, another process may have written
  // the session since.
  if (isSameToken && family.latest.usedAt < purpose.session.usedAt) family.latest = purpose.session
  const { latest: before } = family
  if (purpose.isSatisfiedBy(before)) return { session: before }
  // The provider may have rotated the token in each of them.
  const lost = family.turns.filter(({ redemption }) => redemption.state === 'abandoned').length
  const previous = new Set([before.data.tokenSet.refreshToken ?? purpose.refreshToken])
  const redeemCurrent = async (
    session: StoredSession,
    lockUntil = Number.POSITIVE_INFINITY,
  ): Promise<RedemptionResult> => {
    const { refreshToken } = session.data.tokenSet
    // With a store, `session` is a copy of its record, which another process may have refreshed.
    if (!refreshToken || purpose.isSatisfiedBy(session)) return { session }
    if (lost >= MAX_LOST) throw noResponseYet()
    const latest = isOfApplication(purpose) ? session : await withSuccessor(parts, session, refreshToken)
    const token = latest.data.tokenSet.refreshToken ?? refreshToken
    previous.add(refreshToken).add(token)
    const redeemed = await purpose.redeem(latest, token, toProgress(job, lockUntil), job.requestScope)
    // Before it is written: a request that reads it then would redeem the new token beside this queue.
    if (store) resolveTo(family, await tokenKey(parts, redeemed.session.data.tokenSet.refreshToken ?? token))
    return redeemed
  }
  const result = await (store ? redeemInStore(store, before, redeemCurrent, lost > 0) : redeemCurrent(before))
  // Nothing was redeemed, or it changed nothing.
  if (result.session === before) return result
  const { refreshToken: successor } = result.session.data.tokenSet
  const owner = isOfApplication(purpose) ? NO_SESSION : undefined
  const others = [...previous].filter((token) => token !== successor)
  const tokens = successor === undefined ? others : [...others, successor]
  const keys = await Promise.all(tokens.map((token) => tokenKey(parts, token, owner)))
  // Without an await between them: another request may save a change at any time.
  const session = withUpdates(result.session, before, family.latest)
  advance(family, session, keys, parts.config.clock())
  return { ...result, session }
}

const MISUSED =
  'refreshTokens was called with the refresh token of a session. The session continues with its successor, in this process only: ' +
  'call getAccessToken instead.'

/**
 * Returns the session as it is or, if `refreshTokens` has redeemed or is redeeming its refresh token, with the successor of that: the
 * session could not use its own any more. From then on the successor is that of the session. Waits at most `httpTimeout` in all;
 * throws `REQUEST_TIMEOUT`.
 */
async function withSuccessor(
  parts: FamilyParts,
  session: StoredSession,
  ownToken: string,
): Promise<StoredSession> {
  const { clock, httpTimeout, log } = parts.config
  const key = await tokenKey(parts, ownToken, NO_SESSION)
  const ofApplication = findFamily(key, { ...session, sessionKey: NO_SESSION }, clock())
  if (!ofApplication) return session
  log.once(MISUSED)
  const running = (): Turn | undefined =>
    ofApplication.turns.find(({ redemption }) => isInProgress(redemption))
  const end = monotonic() + httpTimeout
  for (let turn = running(); turn; turn = running()) await waitOrAbandon(turn, end - monotonic(), false)
  ofApplication.closed = true
  const { refreshToken } = ofApplication.latest.data.tokenSet
  const tokenSet = { ...session.data.tokenSet, ...defined({ refreshToken }) }
  return { ...session, data: { ...session.data, tokenSet } }
}

/** Moves the state of a redemption as its request to the provider progresses. */
function toProgress({ parts, purpose, requestScope, turn }: Job, lockUntil: number): Progress {
  const { httpTimeout, processLasts } = parts.config
  return {
    onRequest() {
      // Its family records no successor: a redemption before this one may have consumed the token.
      if (hasEnded(purpose.session)) throw new IdpError('MISSING_SESSION')
      // After the end of the lock, another process may be sending it.
      if (turn.redemption.state === 'abandoned' || monotonic() >= lockUntil) throw noResponseYet()
      move(turn, { type: 'sent', deadline: deadlineAfter(httpTimeout) })
      touch(turn.family)
    },
    onOverdue(error) {
      const now = monotonic()
      const milliseconds = processLasts
        ? Math.min(3 * httpTimeout, lockUntil - RESERVED_MILLISECONDS - now)
        : 0
      if (milliseconds <= 0 || !mayBeLate(now)) return 0
      const before = turn.redemption
      move(turn, { type: 'overdue', deadline: deadlineAfter(milliseconds), error })
      // Once only: the response to a second request, after another process has redeemed the token, is not awaited longer.
      if (turn.redemption === before) return 0
      // The request may end before the response arrives.
      requestScope.release()
      turn.wake()
      return milliseconds
    },
    // A second redemption would lose the session, so the hooks of the application get time.
    onResponse: () => move(turn, { type: 'responded', deadline: deadlineAfter(4 * httpTimeout) }),
  }
}

/** Applies the changes that other requests saved during the redemption. */
function withUpdates(redeemed: StoredSession, found: StoredSession, meanwhile: StoredSession): StoredSession {
  const data = withChanges({ current: redeemed.data, found: found.data, changes: meanwhile.data })
  return { ...redeemed, data, usedAt: Math.max(redeemed.usedAt, meanwhile.usedAt) }
}
