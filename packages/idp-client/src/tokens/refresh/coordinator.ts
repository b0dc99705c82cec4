import type { Config } from '../../config/config.ts'
import { AccessTokenError } from '../../errors/access-token.ts'
import { IdpError } from '../../errors/base.ts'
import { isProviderError, OAuthError } from '../../errors/provider.ts'
import type { Exchange } from '../../http/exchange.ts'
import { monotonic } from '../../lib/clock.ts'
import { atMost, pause } from '../../lib/pause.ts'
import { processWide } from '../../lib/registry.ts'
import type { RequestScope } from '../../lib/request-scope.ts'
import { outliveRequest, outsideRequest, requestScope } from '../../lib/request-scope.ts'
import { backoff, retry } from '../../lib/retry.ts'
import { asIdpError, reportFailure, reportOutcome } from '../../log/failure.ts'
import { withFewerTokens } from '../../session/model/further-tokens.ts'
import { withChanges } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { copySession } from '../../session/model/stored-session.ts'
import type { DistributedSessions, SessionStorage } from '../../session/storage.ts'
import type { ClientParts, TokenFamily, Turn } from './process-memory.ts'
import {
  advance,
  findFamily,
  keepUntilSent,
  openFamily,
  removeTurn,
  tokenKey,
  touch,
} from './process-memory.ts'
import type { Redemption, RefreshEvent } from './state.ts'
import { isInProgress, isUnsettled, transition } from './state.ts'

export interface RefreshParts extends ClientParts {
  readonly sessions: SessionStorage
}

/** The progress of a redemption, and the part of the starting request that it may use. */
export interface Progress {
  /** Scope for hooks of the application; the redemption itself runs outside the scope of the request. */
  readonly scope: RequestScope
  /** Called when the response is late. Returns for how many more milliseconds to wait for it. */
  readonly onOverdue: (error: Error) => number
  /** Called when the refresh token is sent. */
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
  readonly redeem: (session: StoredSession, refreshToken: string, progress: Progress) => Promise<Redemption>
}

/** How many responses to one refresh token may be lost with their requests. */
const MAX_LOST = 2
/** Maximum number of late responses that this process waits for at a time. */
const MAX_LATE = 1000
/** How much longer than its own time limits a redemption may take before another call takes over, in milliseconds. */
const SLACK = 1000
/** How long a request waits for retries of a failed write of rotated tokens, in milliseconds. */
const WRITE_RETRY_MILLISECONDS = 2000
/** Time reserved at the end of a lock for writing the tokens of a late response, in milliseconds. */
const WRITE_MILLISECONDS = WRITE_RETRY_MILLISECONDS + 1000

/* Milliseconds. */
const RETRIES = { first: 50, longest: 1000, now: monotonic }

const after = (milliseconds: number): number => monotonic() + milliseconds + SLACK

const redemptions = (): { late: number } => processWide('queue:redemptions/2', () => ({ late: 0 }))

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

/** A redemption with everything that it needs. Not kept, since it refers to the request that started it. */
interface Job {
  readonly parts: RefreshParts
  readonly purpose: Purpose
  readonly turn: Turn
  /** Present if the sessions are in a store. */
  readonly store: DistributedSessions | undefined
  readonly scope: RequestScope
}

/**
 * Redeems a refresh token once for all requests of this process, and persists the result for this one: with its response, or
 * in this process until a response can carry it. Calls with the same purpose share the redemption and its failure; a call
 * with another purpose waits and redeems the successor. Sessions share nothing: the key is a hash of provider, client and
 * refresh token, and the family compares the session key. Returns the redemption with a copy of the session, and whether the
 * session has ended meanwhile.
 */
export async function refresh(
  parts: RefreshParts,
  exchange: Exchange,
  given: Purpose,
): Promise<Redemption & { readonly hasEnded: boolean }> {
  const { stale, ...current } = given.session
  // The older copy belongs to one request, not to the others that share this session.
  const purpose = stale ? { ...given, session: current } : given
  const key = await tokenKey(parts, purpose.refreshToken)
  const family = findFamily(key, purpose.session, parts.config.clock()) ?? openFamily(key, purpose.session)
  const store = await parts.sessions.distributed?.()
  const scope = requestScope()
  // Promises and timers would keep the request reachable.
  const redemption = await outsideRequest(() => share(family, { parts, purpose, store, scope }))
  const session = copySession(redemption.session)
  // The redemption has written it to the store.
  if (store) store.adopt(exchange, session)
  else await persist(parts, exchange, family, session)
  return { ...redemption, session, hasEnded: family.closed }
}

/** Joins the redemption with this purpose, or starts one. If one is lost with its request, the first to notice takes over. */
async function share(family: TokenFamily, given: Omit<Job, 'turn'>): Promise<Redemption> {
  const { httpTimeout } = given.parts.config
  const { key } = given.purpose
  const isSame = ({ purpose, refresh }: Turn): boolean => purpose === key && isInProgress(refresh)
  for (let turn = family.turns.find(isSame); turn; turn = family.turns.find(isSame)) {
    const isEarly = !turn.refresh.late
    if (await hasCome(turn, httpTimeout, isEarly)) return toRedemption(turn, isEarly)
  }
  let wake = (): void => {}
  const lateOrEnded = new Promise<void>((resolve) => {
    wake = resolve
  })
  const queued = { state: 'queued', deadline: after(httpTimeout) } as const
  const turn: Turn = { family, purpose: key, refresh: queued, lateOrEnded, ended: lateOrEnded, wake }
  const earlier = family.turns
  family.turns = [...earlier, turn]
  turn.ended = perform({ ...given, turn }, earlier)
  turn.ended.then(wake, wake)
  outliveRequest(turn.ended)
  await lateOrEnded
  return toRedemption(turn, true)
}

/** Returns the result of a redemption, or throws its error. Those who waited for it when it became late get that error. */
function toRedemption({ refresh }: Turn, isEarly: boolean): Redemption {
  if (isEarly && refresh.late) throw refresh.late
  if ('redemption' in refresh && refresh.redemption) return refresh.redemption
  throw 'error' in refresh ? refresh.error : overdue()
}

/**
 * Waits with a timer of this request until a redemption has ended, for an early caller also until it is late. Returns false if
 * it is abandoned: on Workers, I/O, timers and promises end with the request that created them, or are rejected by the
 * platform. Throws `REQUEST_TIMEOUT` when the time is over.
 */
async function hasCome(turn: Turn, milliseconds: number, isEarly: boolean): Promise<boolean> {
  const end = monotonic() + milliseconds
  for (;;) {
    const { refresh } = turn
    if (!isInProgress(refresh)) return refresh.state !== 'abandoned'
    if (isEarly && refresh.late) return true
    const now = monotonic()
    if (now < refresh.deadline) {
      if (now >= end) throw overdue()
      const left = Math.ceil(Math.min(end, refresh.deadline) - now)
      const isSettled = await atMost(left, isEarly ? turn.lateOrEnded : turn.ended)
      if (!isSettled || turn.refresh !== refresh) continue
    }
    move(turn, { type: 'lost' })
    if (!isUnsettled(turn.refresh)) removeTurn(turn)
  }
}

/** Waits for the redemptions before it, redeems, and leaves the result in the state of the redemption. Never rejects. */
async function perform(job: Job, earlier: readonly Turn[]): Promise<void> {
  const { parts, store, turn } = job
  const { config } = parts
  try {
    const end = monotonic() + config.httpTimeout
    for (const other of earlier) await hasCome(other, end - monotonic(), false)
    move(turn, { type: 'turn', deadline: after(config.httpTimeout) })
    const redemption = await redeemLatest(job)
    move(turn, { type: 'redeemed', redemption })
    // Its callers may have left.
    if (turn.refresh.late && !store && !turn.family.closed)
      keepUntilSent(config, turn.family, redemption.session)
  } catch (error) {
    move(turn, { type: 'failed', error })
    if (turn.refresh.late) reportFailed(config, error)
  } finally {
    if (turn.refresh.late) redemptions().late -= 1
    removeTurn(turn)
  }
}

/** Redeems the latest refresh token of the family, in a store under the lock of the session, and advances the family. */
async function redeemLatest(job: Job): Promise<Redemption> {
  const { parts, purpose, store, turn } = job
  const { family } = turn
  const { latest } = family
  const isSameToken = latest.data.tokenSet.refreshToken === purpose.session.data.tokenSet.refreshToken
  // The family has the successor of a consumed token. Where tokens do not rotate, the store may have a newer session.
  const isNewer = store && isSameToken && latest.usedAt < purpose.session.usedAt
  const before = isNewer ? purpose.session : latest
  if (before !== purpose.session && purpose.isSatisfiedBy(before))
    return { session: before, isStored: store !== undefined }
  const lost = family.turns.filter(({ refresh }) => isUnsettled(refresh)).length
  const redeem = async (session: StoredSession, lockEnd = Number.POSITIVE_INFINITY): Promise<Redemption> => {
    const { refreshToken } = session.data.tokenSet
    const isServed = session !== purpose.session && (!refreshToken || purpose.isSatisfiedBy(session))
    if (isServed) return { session }
    if (lost >= MAX_LOST) throw overdue()
    return purpose.redeem(session, refreshToken ?? purpose.refreshToken, toProgress(job, lockEnd))
  }
  const redemption = await (store ? redeemInStore(store, before, redeem, lost > 0) : redeem(before))
  if (redemption.session === before) return redemption
  const session = withUpdates(redemption.session, latest, family.latest)
  const spent = before.data.tokenSet.refreshToken ?? purpose.refreshToken
  const keys = [spent, session.data.tokenSet.refreshToken ?? spent].map((token) => tokenKey(parts, token))
  advance(family, session, await Promise.all(keys), parts.config.clock())
  return { ...redemption, session }
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
 * prevents other processes from redeeming the consumed token. Throws `MISSING_SESSION` if the session ended meanwhile,
 * `SESSION_STORE_FAILED`.
 */
export async function redeemInStore<T extends Redemption>(
  store: DistributedSessions,
  session: StoredSession,
  redeem: (current: StoredSession, lockEnd?: number) => Promise<T>,
  mayBeOld = false,
): Promise<T> {
  const { sessionKey } = session
  const lock = await store.lock(sessionKey)
  const lockEnd = lock && lock.until - WRITE_MILLISECONDS
  let isKept = false
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
    const { isWritten, session: kept } = await store.persist(from, result.session)
    const flush = async (): Promise<true | undefined> => (await store.flush(sessionKey)) || undefined
    const retryFlush = (limit: number): Promise<true | undefined> =>
      retry(flush, backoff({ ...RETRIES, limit }), pause)
    const isStored = isWritten || (await retryFlush(WRITE_RETRY_MILLISECONDS)) === true
    if (!isStored) {
      isKept = true
      const rest = lock ? lock.until - monotonic() : WRITE_RETRY_MILLISECONDS
      // Otherwise the lock expires on its own, so that no other process redeems the consumed refresh token.
      const settled = retryFlush(rest).then((isWritten) => (isWritten ? lock?.release() : undefined))
      outliveRequest(settled.catch(() => lock?.release()))
    }
    return { ...result, session: kept, isStored }
  } finally {
    if (!isKept) await lock?.release()
  }
}

/** Moves the state of a redemption as its request to the provider progresses. */
function toProgress({ parts, scope, turn }: Job, lockEnd: number): Progress {
  const patience = parts.config.httpTimeout
  return {
    scope,
    onRequest() {
      move(turn, { type: 'sent', deadline: after(patience) })
      touch(turn.family)
    },
    onOverdue(error) {
      const milliseconds = Math.min(3 * patience, lockEnd - monotonic())
      if (milliseconds <= 0 || redemptions().late >= MAX_LATE) return 0
      const before = turn.refresh
      move(turn, { type: 'overdue', deadline: after(milliseconds), error })
      if (turn.refresh === before) return 0
      redemptions().late += 1
      // The request may end before the response arrives.
      scope.release()
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
  if (family.closed) return
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
