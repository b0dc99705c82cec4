import { IdpError } from '../../errors/base.ts'
import { pause } from '../../lib/pause.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type { SessionChange, SharedSessions } from '../storage.ts'
import type { GuardedStore } from './guarded-store.ts'
import { INSISTENCE_MILLISECONDS } from './guarded-store.ts'
import { recordId } from './record.ts'
import { askStore } from './store-call.ts'
import type { Snapshot, StoreRecords } from './store-records.ts'

export interface RedemptionParts {
  readonly store: GuardedStore
  readonly records: StoreRecords
}

/** What is left of a lock for writing what a late response brought. */
const WRITE_MILLISECONDS = INSISTENCE_MILLISECONDS + 1000

const FIRST_RETRY = 50
const LONGEST_RETRY = 1000

/** What a redemption tried with; another process may have gone on from it. */
function isSpent(tried: StoredSession, now: StoredSession): boolean {
  return tried.data.tokenSet.refreshToken !== now.data.tokenSet.refreshToken
}

/** Asks again, less and less often, but not for ever; true as soon as `work` says so. */
async function retryUntil(work: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + INSISTENCE_MILLISECONDS
  for (let next = FIRST_RETRY; ; next = Math.min(next * 2, LONGEST_RETRY)) {
    const left = end - performance.now()
    if (left <= 0) return false
    await pause(Math.min(next, left))
    if (await work()) return true
  }
}

/**
 * Redemptions of refresh tokens where processes share the sessions: see `SharedSessions.exclusively`. What the provider
 * gave must not be lost. When the store does not take it, the request waits a while; after that this process goes on
 * trying for as long as nobody else may redeem the token that is spent.
 */
export function exclusiveRedemption({ records, store }: RedemptionParts): SharedSessions['exclusively'] {
  async function attempt<T extends SessionChange>(
    known: Snapshot,
    work: (session: StoredSession) => Promise<T>,
  ): Promise<{ readonly result: T; readonly from: Snapshot }> {
    const result = await work(known.session)
    if (result.failure === undefined) return { result, from: known }
    const now = await records.read(known.session.sessionKey)
    // Another process was quicker: what it brought may be all that is wanted.
    return now && isSpent(known.session, now.session)
      ? { result: await work(now.session), from: now }
      : { result, from: known }
  }

  return async (session, work) => {
    const { sessionKey } = session
    const lease = await store.lock?.(await recordId(sessionKey))
    const until = lease && performance.now() + store.leaseMilliseconds - WRITE_MILLISECONDS
    const release = async (): Promise<void> => {
      if (!lease) return
      // A connection that was idle for long fails once; otherwise others wait until the lock expires.
      await lease.release().catch(() => askStore('lock', () => lease.release()).catch(store.report))
    }
    let settling = false
    try {
      const known = lease ? await records.read(sessionKey) : records.snapshot(session)
      if (!known) throw new IdpError('MISSING_SESSION')
      const { from, result } = await attempt(known, (current) => work(current, until))
      if (result.session === from.session) return result
      const kept = await records.persist(from, result.session)
      const settle = (): Promise<boolean> => records.flush(sessionKey)
      if (!kept.written && !(await retryUntil(settle))) {
        settling = true
        // Else the lease ends by itself: for so long nobody spends again what is spent.
        retryUntil(settle).then((isSettled) => (isSettled ? release() : undefined), release)
      }
      return { ...result, session: kept.session }
    } finally {
      if (!settling) await release()
    }
  }
}
