import type { Config } from '../../config/config.ts'
import { IdpError } from '../../errors/base.ts'
import { isProviderError, OAuthError } from '../../errors/provider.ts'
import { AccessTokenError } from '../../errors/tokens.ts'
import type { Exchange } from '../../http/exchange.ts'
import { monotonic } from '../../lib/clock.ts'
import { atMost, pause } from '../../lib/pause.ts'
import type { RequestScope } from '../../lib/request-scope.ts'
import { outliveRequest, outsideRequest, requestScope } from '../../lib/request-scope.ts'
import { backoff, retry } from '../../lib/retry.ts'
import { asIdpError, reportFailure, reportOutcome } from '../../log/failure.ts'
import { withFewerTokens } from '../../session/model/further-tokens.ts'
import { withChanges } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { copySession } from '../../session/model/stored-session.ts'
import type { DistributedSessions, Flushed, SessionStorage } from '../../session/storage.ts'
import type { ClientParts, TokenFamily, Turn } from './process-memory.ts'
import {
  advance,
  findFamily,
  hasEnded,
  hasRoomForLate,
  keepUntilSent,
  lateDeadlines,
  NO_SESSION,
  openFamily,
  removeTurn,
  tokenKey,
  touch,
} from './process-memory.ts'
import type { RedemptionResult, RefreshEvent } from './state.ts'
import { isInProgress, isUnsettled, transition } from './state.ts'

export interface RefreshParts extends ClientParts {
  readonly sessions: SessionStorage
}

/** The progress of a redemption, and the part of the starting request that it may use. */
export interface Progress {
  /** Scope for hooks of the application; the redemption itself runs outside the scope of the request. */
  readonly requestScope: RequestScope
  /** Called when the response is late. Returns for how many more milliseconds to wait for it. */
  readonly onOverdue: (error: Error) => number
  /** Called before each request to the provider. Throws if another call has taken over, or the lock has expired. */
  readonly onRequest: () => void
  /** Called when the response has arrived, and only steps of this process follow. */
  readonly onResponse: () => void
}

/** The purpose of a redemption. */
export interface Purpose {
  readonly session: StoredSession
  /** Its refresh token. */
  readonly refreshToken: string
  /** Calls with the same key share a redemption. */
  readonly key: string
  /** Returns whether another request has already stored the requested token in the session. */
  readonly isSatisfiedBy: (session: StoredSession) => boolean
  /** Redeems the refresh token of the given session, which may be a successor of `session`. */
  readonly redeem: (
    session: StoredSession,
    refreshToken: string,
    progress: Progress,
  ) => Promise<RedemptionResult>
}

/** How many responses to one refresh token may be lost with their requests. */
const MAX_LOST = 2
/** How much longer than its own time limits a redemption may take before another call takes over, in milliseconds. */
const SLACK = 1000
/** How long a request waits for retries of a failed write of rotated tokens, in milliseconds. */
const WRITE_RETRY_MILLISECONDS = 2000
/** Time reserved at the end of a lock for writing the tokens of a late response, in milliseconds. */
const WRITE_MILLISECONDS = WRITE_RETRY_MILLISECONDS + 1000

/* Milliseconds. */
const RETRIES = { first: 50, longest: 1000, now: monotonic }

const after = (milliseconds: number): number => monotonic() + milliseconds + SLACK

/** The error of a call that does not send the token, because an earlier one has sent or is about to send it. */
const overdue = (): OAuthError =>
  new OAuthError('REQUEST_TIMEOUT', { detail: 'An earlier refresh of this session has no response yet.' })

function move(turn: Turn, event: RefreshEvent): void {
  turn.refresh = transition(turn.refresh, event)
}

/** Reports a failed refresh that the caller does not receive. */
export function reportFailed({ log }: Config, error: unknown): void {
  reportFailure(log, isProviderError(error) ? failedWith(error) : error)
}

export const failedWith = (cause: unknown): AccessTokenError =>
  new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })

/** The parts that a turn uses of the request that started it. Not kept after the turn. */
interface Job {
  readonly parts: RefreshParts
  readonly purpose: Purpose
  readonly turn: Turn
  /** Present if the sessions are in a store. */
  readonly store: DistributedSessions | undefined
  readonly requestScope: RequestScope
  /** Present if no request of a browser will ever carry the result. */
  readonly isForCaller?: boolean
}

/**
 * Redeems a refresh token once for all requests of this process, and persists the result for this one: with its response, or
 * in this process until a response can carry it. Calls with the same purpose share the redemption and its failure; a call
 * with another purpose waits and redeems the successor. Sessions share nothing: the key is a hash of provider, client and
 * refresh token, and the family compares the session key. Returns the result with a copy of the session, and whether the
 * session has ended meanwhile in this process. Throws `MISSING_SESSION` if it had ended before, or in a store meanwhile, and
 * `SESSION_EXPIRED` if the provider has ended it.
 */
export async function refresh(
  parts: RefreshParts,
  exchange: Exchange,
  given: Purpose,
): Promise<RedemptionResult & { readonly hasEnded: boolean }> {
  const { stale, ...current } = given.session
  // The older copy belongs to one request, not to the others that share this session.
  const purpose = stale ? { ...given, session: current } : given
  if (hasEnded(purpose.session)) throw new IdpError('MISSING_SESSION')
  const key = await tokenKey(parts, purpose.refreshToken)
  const family = findFamily(key, purpose.session, parts.config.clock()) ?? openFamily(key, purpose.session)
  const store = await parts.sessions.distributed?.()
  const job = { parts, purpose, store, requestScope: requestScope() }
  // Promises and timers would keep the request reachable.
  const result = await outsideRequest(() => share(family, job))
  const session = copySession(result.session)
  const { sessionExpiresAt } = session.data.internal
  if (sessionExpiresAt !== undefined && sessionExpiresAt <= parts.config.clock())
    await (await import('./expired.ts')).endExpired(parts, exchange, session)
  // The redemption has written it to the store, but the cookie of this request may still be old.
  if (store) store.adopt(exchange, stale ? { ...session, stale: session.data } : session)
  else await persist(parts, exchange, family, session)
  return { ...result, session, hasEnded: family.closed || hasEnded(session) }
}

/** Joins the redemption with this purpose, or starts one. If one is lost with its request, the first to notice takes over. */
export async function share(family: TokenFamily, given: Omit<Job, 'turn'>): Promise<RedemptionResult> {
  const { httpTimeout } = given.parts.config
  const { key } = given.purpose
  const isSame = ({ purpose, refresh }: Turn): boolean => purpose === key && isInProgress(refresh)
  for (let turn = family.turns.find(isSame); turn; turn = family.turns.find(isSame)) {
    const isEarly = !turn.refresh.late
    if ((await waitOrAbandon(turn, httpTimeout, isEarly)) === 'ended') return toResult(turn, isEarly)
  }
  let wake = (): void => {}
  const lateOrEnded = new Promise<void>((resolve) => {
    wake = resolve
  })
  const queued = { state: 'queued', deadline: after(httpTimeout) } as const
  // `perform` needs the turn, and replaces its `ended`.
  const turn: Turn = { family, purpose: key, refresh: queued, lateOrEnded, ended: lateOrEnded, wake }
  const earlier = family.turns
  family.turns = [...earlier, turn]
  turn.ended = perform({ ...given, turn }, earlier)
  turn.ended.then(wake, wake)
  outliveRequest(turn.ended)
  await lateOrEnded
  return toResult(turn, true)
}

/** Returns the result of a turn, or throws its error. Those who had waited for it when it became late get that error. */
function toResult({ refresh }: Turn, isEarly: boolean): RedemptionResult {
  if (isEarly && refresh.late) throw refresh.late
  if ('result' in refresh) return refresh.result
  throw 'error' in refresh ? refresh.error : overdue()
}

/**
 * Waits with a timer of this request until a turn has ended; `isEarly`, since the caller came before the response was late:
 * also until it is late. Abandons a turn that has passed its deadline: on Workers, I/O, timers and promises end with the
 * request that created them, or are rejected by the platform. Throws `REQUEST_TIMEOUT` when the time is over.
 */
async function waitOrAbandon(
  turn: Turn,
  milliseconds: number,
  isEarly: boolean,
): Promise<'ended' | 'abandoned'> {
  const end = monotonic() + milliseconds
  const ended = isEarly ? turn.lateOrEnded : turn.ended
  // After a pause of the whole process, the response of a living redemption may have arrived.
  if (isInProgress(turn.refresh) && monotonic() >= turn.refresh.deadline) await atMost(0, ended)
  for (;;) {
    const { refresh } = turn
    if (!isInProgress(refresh)) return refresh.state === 'abandoned' ? 'abandoned' : 'ended'
    if (isEarly && refresh.late) return 'ended'
    const now = monotonic()
    if (now < refresh.deadline) {
      if (now >= end) throw overdue()
      const left = Math.ceil(Math.min(end, refresh.deadline) - now)
      const isSettled = await atMost(left, ended)
      if (!isSettled || turn.refresh !== refresh) continue
    }
    move(turn, { type: 'lost' })
    // The caller takes its place in the family.
    if (!isUnsettled(turn.refresh)) turn.family.turns = turn.family.turns.filter((other) => other !== turn)
  }
}

/** Waits for the turns before it, redeems, and leaves the result in the state of the turn. Never rejects. */
async function perform(job: Job, earlier: readonly Turn[]): Promise<void> {
  const { isForCaller, parts, store, turn } = job
  const { httpTimeout, sessionLockTimeout } = parts.config
  try {
    const end = monotonic() + httpTimeout
    for (const other of earlier) await waitOrAbandon(other, end - monotonic(), false)
    // In a store, another process may hold the lock for as long as it lasts.
    move(turn, { type: 'started', deadline: after(httpTimeout + (store ? sessionLockTimeout : 0)) })
    const result = await redeemLatest(job)
    move(turn, { type: 'ended', result })
    const { sessionExpiresAt } = result.session.data.internal
    if (sessionExpiresAt !== undefined && sessionExpiresAt <= parts.config.clock())
      await (await import('./expired.ts')).endInProcess(turn.family, result.session)
    // Its callers may have left.
    if (turn.refresh.late && !store && !isForCaller && !turn.family.closed && !hasEnded(result.session))
      keepUntilSent(parts.config, turn.family, result.session)
  } catch (error) {
    move(turn, { type: 'failed', error })
    if (turn.refresh.late) reportFailed(parts.config, error)
  } finally {
    lateDeadlines().delete(turn)
    removeTurn(turn)
  }
}

/** Redeems the latest refresh token of the family, in a store under the lock of the session, and advances the family. */
async function redeemLatest(job: Job): Promise<RedemptionResult> {
  const { isForCaller, parts, purpose, store, turn } = job
  const { family } = turn
  const { refreshToken: ownToken } = purpose.session.data.tokenSet
  const isSameToken = family.latest.data.tokenSet.refreshToken === ownToken
  // The family has the successor of a consumed token. Another process may have changed the session since then.
  if (isSameToken && family.latest.usedAt < purpose.session.usedAt) family.latest = purpose.session
  const { latest: before } = family
  if (before !== purpose.session && purpose.isSatisfiedBy(before))
    return { session: before, isStored: store !== undefined }
  const lost = family.turns.filter(({ refresh }) => isUnsettled(refresh)).length
  const spent = new Set([before.data.tokenSet.refreshToken ?? purpose.refreshToken])
  const redeem = async (
    session: StoredSession,
    lockEnd = Number.POSITIVE_INFINITY,
  ): Promise<RedemptionResult> => {
    const { refreshToken } = session.data.tokenSet
    // Read from the store, it may be one that another process has refreshed.
    const isServed = session !== purpose.session && (!refreshToken || purpose.isSatisfiedBy(session))
    if (isServed) return { session }
    if (lost >= MAX_LOST) throw overdue()
    const own = refreshToken ?? purpose.refreshToken
    spent.add(own)
    const outsider = { ...session, sessionKey: NO_SESSION }
    const callers = isForCaller
      ? undefined
      : findFamily(await tokenKey(parts, own, NO_SESSION), outsider, parts.config.clock())
    const wait = (other: Turn, milliseconds: number) => waitOrAbandon(other, milliseconds, false)
    const latest = callers
      ? await (await import('./successor.ts')).withSuccessor(callers, session, parts.config, wait)
      : session
    const token = latest.data.tokenSet.refreshToken ?? own
    spent.add(token)
    return purpose.redeem(latest, token, toProgress(job, lockEnd))
  }
  const result = await (store ? redeemInStore(store, before, redeem, lost > 0) : redeem(before))
  if (result.session === before) return result
  const tokens = new Set(
    [...spent, result.session.data.tokenSet.refreshToken].filter((token) => token !== undefined),
  )
  const owner = isForCaller ? NO_SESSION : ''
  const keys = await Promise.all([...tokens].map((token) => tokenKey(parts, token, owner)))
  // Without an await between them: another request may save a change at any time.
  const session = withUpdates(result.session, before, family.latest)
  advance(family, session, keys, parts.config.clock())
  return { ...result, session }
}

/** Returns whether another process has consumed the refresh token. */
function isSpent(tried: StoredSession, now: StoredSession): boolean {
  return tried.data.tokenSet.refreshToken !== now.data.tokenSet.refreshToken
}

/**
 * Redeems the refresh token of a session under its lock, if the store can lock, and writes the result before it releases the
 * lock. `redeem` gets the session as it is now, and when the lock has to be released, in milliseconds of the monotonic
 * clock. If the token was rejected and another process has redeemed it first, redeems again. With `mayBeOld` the session is
 * read again even without a lock.
 *
 * If the store rejects the result, retries while the request waits, and then in the background for as long as the lock
 * prevents other processes from redeeming the consumed token; that lock is not released. Throws `MISSING_SESSION` if the
 * session ended meanwhile, `SESSION_STORE_FAILED`.
 */
export async function redeemInStore(
  store: DistributedSessions,
  session: StoredSession,
  redeem: (current: StoredSession, lockEnd?: number) => Promise<RedemptionResult>,
  mayBeOld = false,
): Promise<RedemptionResult> {
  const { sessionKey } = session
  const lock = await store.lock(sessionKey)
  const lockEnd = lock && lock.until - WRITE_MILLISECONDS
  let isHeld = false
  try {
    // A copy, because the application may modify the session of its request.
    let from = lock || mayBeOld ? await store.read(sessionKey) : copySession(session)
    if (!from) throw new IdpError('MISSING_SESSION')
    let result = await redeem(from, lockEnd)
    const current = result.failure === undefined ? null : await store.read(sessionKey)
    if (current && isSpent(from, current)) {
      from = current
      result = await redeem(current, lockEnd)
    }
    if (result.session === from) return { ...result, isStored: true }
    const written = await store.persist(from, result.session)
    if (written.isWritten) return { ...result, session: written.session, isStored: true }
    const retryFlush = (limit: number): Promise<Flushed | undefined> => {
      const flush = async () => (await store.flush(sessionKey)) ?? undefined
      return retry(flush, backoff({ ...RETRIES, limit }), pause)
    }
    const flushed = await retryFlush(WRITE_RETRY_MILLISECONDS)
    if (flushed) {
      if (!flushed.session) throw new IdpError('MISSING_SESSION')
      return { ...result, session: flushed.session, isStored: true }
    }
    isHeld = true
    const inTime = retryFlush(lock ? lock.until - monotonic() : WRITE_RETRY_MILLISECONDS)
    outliveRequest(inTime.then((later) => later && lock?.release()))
    return { ...result, session: written.session, isStored: false }
  } finally {
    if (!isHeld) await lock?.release()
  }
}

/** Moves the state of a redemption as its request to the provider progresses. */
function toProgress({ parts, requestScope, turn }: Job, lockEnd: number): Progress {
  const patience = parts.config.httpTimeout
  return {
    requestScope,
    onRequest() {
      // After the end of the lock, another process may be sending it.
      if (turn.refresh.state === 'abandoned' || monotonic() >= lockEnd + WRITE_MILLISECONDS) throw overdue()
      move(turn, { type: 'sent', deadline: after(patience) })
      touch(turn.family)
    },
    onOverdue(error) {
      const now = monotonic()
      const milliseconds = Math.min(3 * patience, lockEnd - now)
      if (milliseconds <= 0 || !hasRoomForLate(now)) return 0
      const before = turn.refresh
      const deadline = after(milliseconds)
      move(turn, { type: 'overdue', deadline, error })
      if (turn.refresh === before) return 0
      lateDeadlines().set(turn, deadline)
      // The request may end before the response arrives.
      requestScope.release()
      turn.wake()
      return milliseconds
    },
    // A second redemption would lose the session, so the hooks of the application get time.
    onResponse: () => move(turn, { type: 'responded', deadline: after(4 * patience) }),
  }
}

/** Applies the changes that other requests saved during the redemption. */
function withUpdates(redeemed: StoredSession, found: StoredSession, meanwhile: StoredSession): StoredSession {
  if (meanwhile === found) return redeemed
  const data = withChanges({ current: redeemed.data, found: found.data, changes: meanwhile.data })
  return { ...redeemed, data }
}

/** Persists the tokens of a redemption: with this response, or in this process until a response can carry them. */
async function persist(
  { config, sessions }: RefreshParts,
  exchange: Exchange,
  family: TokenFamily,
  session: StoredSession,
): Promise<void> {
  // The session ended while its token was redeemed: saving it would undo a logout or another login.
  if (family.closed || hasEnded(session)) return
  // Until a response has carried its cookie, only this process has the new tokens.
  keepUntilSent(config, family, session)
  try {
    if (exchange.canWrite()) await sessions.save(exchange, session)
    // It may be long until one can be written.
    else family.latest = withFewerTokens(family.latest, config)
  } catch (error) {
    // The rotated token stays in this process, and the call still returns its access token.
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
