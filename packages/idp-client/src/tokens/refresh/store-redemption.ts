import { IdpError } from '../../errors/base.ts'
import { monotonic } from '../../lib/clock.ts'
import { pause } from '../../lib/pause.ts'
import { outliveRequest } from '../../lib/request-scope.ts'
import { backoff, retry } from '../../lib/retry.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { copySession } from '../../session/model/stored-session.ts'
import type { DistributedSessions } from '../../session/storage.ts'
import type { Redemption } from './state.ts'

/** How long a request waits for retries of a failed write of rotated tokens, in milliseconds. */
const WRITE_RETRY_MILLISECONDS = 2000
/** Time reserved at the end of a lock for writing the tokens of a late response, in milliseconds. */
const WRITE_MILLISECONDS = WRITE_RETRY_MILLISECONDS + 1000

/* Milliseconds. */
const RETRIES = { first: 50, longest: 1000, now: monotonic }

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
