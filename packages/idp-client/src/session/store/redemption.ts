import { IdpError } from '../../errors/base.ts'
import { monotonic } from '../../lib/clock.ts'
import { pause } from '../../lib/pause.ts'
import { outliveRequest } from '../../lib/request-scope.ts'
import { backoff, retry } from '../../lib/retry.ts'
import type { Snapshot, StoredSession } from '../model/stored-session.ts'
import type { DistributedSessions, SessionChange } from '../storage.ts'
import type { CompleteStore } from './complete-store.ts'
import { recordId } from './record.ts'
import type { StoreRecords } from './store-records.ts'
import { toSnapshot } from './store-records.ts'

export interface RedemptionParts {
  readonly store: CompleteStore
  readonly records: StoreRecords
}

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
 * Creates `DistributedSessions.exclusively`: redeems a refresh token under the lock of the session and writes the result,
 * which must not be lost. If the store rejects it, retries while the request waits, and then in the background for as long
 * as the lock prevents other processes from redeeming the consumed token.
 */
export function exclusiveRedemption({ records, store }: RedemptionParts): DistributedSessions['exclusively'] {
  async function attempt<T extends SessionChange>(
    known: Snapshot,
    work: (session: StoredSession) => Promise<T>,
  ): Promise<{ readonly result: T; readonly from: Snapshot }> {
    const result = await work(known.session)
    if (result.failure === undefined) return { result, from: known }
    const now = await records.read(known.session.sessionKey)
    // Another process redeemed the token first: its tokens may be sufficient.
    return now && isSpent(known.session, now.session)
      ? { result: await work(now.session), from: now }
      : { result, from: known }
  }

  return async (session, work, mayBeOld = false) => {
    const { sessionKey } = session
    const lease = await store.lock(await recordId(sessionKey))
    const until = lease ? monotonic() + store.leaseMilliseconds - WRITE_MILLISECONDS : undefined
    const release = async (): Promise<void> => {
      if (!lease) return
      // Retried once, because the first call on an idle connection may fail. Otherwise others wait until the lock expires.
      await lease.release().catch(() => lease.release().catch(store.report))
    }
    let settling = false
    try {
      const known = lease || mayBeOld ? await records.read(sessionKey) : toSnapshot(session)
      if (!known) throw new IdpError('MISSING_SESSION')
      const { from, result } = await attempt(known, (current) => work(current, until))
      if (result.session === from.session) return result
      const kept = await records.persist(from, result.session)
      const flush = async (): Promise<true | undefined> => (await records.flush(sessionKey)) || undefined
      const retryFlush = (limit: number): Promise<true | undefined> =>
        retry(flush, backoff({ ...RETRIES, limit }), pause)
      if (!kept.isWritten && !(await retryFlush(WRITE_RETRY_MILLISECONDS))) {
        settling = true
        const rest = until ? until + WRITE_MILLISECONDS - monotonic() : WRITE_RETRY_MILLISECONDS
        // Otherwise the lock expires on its own, so that no other process redeems the consumed refresh token.
        outliveRequest(retryFlush(rest).then((isWritten) => (isWritten ? release() : undefined), release))
      }
      return { ...result, session: kept.session }
    } finally {
      if (!settling) await release()
    }
  }
}
