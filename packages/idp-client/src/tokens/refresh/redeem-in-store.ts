import { IdpError } from '../../errors/base.ts'
import { monotonic } from '../../lib/clock.ts'
import { outliveRequest } from '../../lib/request-scope.ts'
import { retry } from '../../lib/retry.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { copySession } from '../../session/model/stored-session.ts'
import type { DistributedSessions, Flushed } from '../../session/storage.ts'
import type { RedemptionResult } from './state.ts'

/** How long a request waits for retries of a failed write of rotated tokens, in milliseconds. */
export const WRITE_RETRY_MILLISECONDS = 2000

/* Milliseconds. */
const RETRIES = { first: 50, longest: 1000 }

/** Returns whether another process has consumed the refresh token. */
function isConsumed(tried: StoredSession, now: StoredSession): boolean {
  return tried.data.tokenSet.refreshToken !== now.data.tokenSet.refreshToken
}

/**
 * Redeems the refresh token of a session under its lock, if the store can lock, and writes the result before it releases the
 * lock. `redeem` gets the session as it is now, and when the lock expires, in milliseconds of the monotonic clock. If the token was
 * rejected and another process has redeemed it first, redeems again. With `mayBeOld` the session is read again even without a
 * lock, because a redemption that was lost may have stored its tokens.
 *
 * If the store rejects the result, retries while the request waits, and then in the background: for as long as the lock prevents
 * other processes from redeeming the consumed token, or as long again without a lock. The write that succeeds releases the lock.
 * Throws `MISSING_SESSION` if the session ended meanwhile, `SESSION_STORE_FAILED`.
 */
export async function redeemInStore(
  store: DistributedSessions,
  session: StoredSession,
  redeem: (current: StoredSession, lockUntil?: number) => Promise<RedemptionResult>,
  mayBeOld = false,
): Promise<RedemptionResult> {
  const { sessionKey } = session
  const lock = await store.lock(sessionKey)
  let toRelease = lock
  try {
    // A copy, because the application may modify the session of its request.
    let from = lock || mayBeOld ? await store.read(sessionKey) : copySession(session)
    if (!from) throw new IdpError('MISSING_SESSION')
    let result = await redeem(from, lock?.until)
    const current = result.failure === undefined ? null : await store.read(sessionKey)
    if (current && isConsumed(from, current)) {
      from = current
      result = await redeem(current, lock?.until)
    }
    if (result.session === from) return result
    const written = await store.persist(from, result.session)
    if (written.isWritten) return { ...result, session: written.session }
    const retryFlush = (limit: number): Promise<Flushed | undefined> =>
      retry(() => store.flush(sessionKey), { ...RETRIES, limit })
    const flushed = await retryFlush(WRITE_RETRY_MILLISECONDS)
    if (flushed) {
      if (!flushed.session) throw new IdpError('MISSING_SESSION')
      return { ...result, session: flushed.session }
    }
    // The write that succeeds releases it.
    toRelease = undefined
    const inTime = retryFlush(lock ? lock.until - monotonic() : WRITE_RETRY_MILLISECONDS)
    outliveRequest(inTime.then((later) => later && lock?.release()))
    return { ...result, session: written.session }
  } finally {
    await toRelease?.release()
  }
}
