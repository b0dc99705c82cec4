import type { Config } from '../../config/config.ts'
import type { SessionDataStore, SessionExpiry, SessionLock } from '../../config/options.ts'
import { monotonic } from '../../lib/clock.ts'
import { jsonReader } from '../../lib/json-reader.ts'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import { pause } from '../../lib/pause.ts'
import { processWide } from '../../lib/registry.ts'
import { backoff, retry } from '../../lib/retry.ts'
import { reportFailure } from '../../log/failure.ts'
import type { Log } from '../../log/log.ts'
import type { SessionData } from '../model/session-data.ts'
import { askStore } from './store-call.ts'
import { assertUpdated, assertUpdateSignature } from './update-signature.ts'

export type RecordUpdater = (current: SessionData) => SessionData

/** The application's store with `update` in any case. Every failure is thrown as `SESSION_STORE_FAILED`. */
export interface GuardedStore {
  /** Returns a record, and its JSON if nothing else refers to the record. */
  get(id: string): Promise<{ readonly value: unknown; readonly json?: string } | null>
  set(id: string, session: SessionData, expiry: SessionExpiry): Promise<void>
  delete(id: string): Promise<void>
  update(id: string, change: RecordUpdater, expiry: SessionExpiry): Promise<SessionData | null>
  /** How long a lock lasts, in milliseconds. */
  readonly leaseMilliseconds: number
  /** Absent if the store cannot lock. Waits until the lock is free. */
  lock?(id: string): Promise<SessionLock>
  readonly log: Log
  /** How long a change of a record waits for those before it, in milliseconds. */
  readonly patience: number
  /** Reports a failure that no caller receives. */
  report(error: unknown): void
}

const RETRY_MILLISECONDS = 40
/** How long a request waits for a lock after the lock should have expired, in milliseconds. */
const SLACK_MILLISECONDS = 1000

/** Changes of records in this process, by record id: a hash of the session key. */
const changes = (): KeyedMutex<string> => processWide('queue:record-changes/2', () => new KeyedMutex())

/**
 * Deletes sessions. If the store has no `update`, deletes them once more after the running changes of this process, which
 * may write a deleted record again. Throws `SESSION_STORE_FAILED`.
 */
export async function deleteForGood<T>(
  { httpTimeout }: Config,
  store: SessionDataStore,
  operation: 'delete' | 'logout',
  deletion: () => Promise<T>,
): Promise<T> {
  const deleted = await askStore(operation, deletion)
  if (!store.update && (await changes().idle(httpTimeout))) await askStore(operation, deletion)
  return deleted
}

/** Writes to the store. Checks the signature of its `update` before the first write. */
function writeTo<T>(
  store: SessionDataStore,
  operation: 'set' | 'update',
  expiry: SessionExpiry,
  write: () => Promise<T>,
): Promise<T> {
  return askStore(operation, async () => {
    await assertUpdateSignature(store, expiry)
    return write()
  })
}

type IsSession = (record: unknown, id: string) => record is SessionData

type InTurn = <T>(id: string, work: () => Promise<T>) => Promise<T>

/** Creates an `update` for a store without one: atomic in this process, but not across processes. */
function emulatedUpdate(
  store: SessionDataStore,
  isSession: IsSession,
  inTurn: InTurn,
): GuardedStore['update'] {
  return (id, change, expiry) =>
    inTurn(id, async () => {
      const current: unknown = await store.get(id)
      if (!isSession(current, id)) return null
      const changed = change(current)
      await store.set(id, changed, expiry)
      return changed
    })
}

/**
 * Wraps the application's store. `isSession` returns whether a value is the record of an id: other values are never updated,
 * only replaced by a new login.
 */
export function createGuardedStore(
  { httpTimeout, log, sessionLockTimeout }: Config,
  store: SessionDataStore,
  isSession: IsSession,
): GuardedStore {
  const inTurn: InTurn = (id, work) => changes().run(id, work, httpTimeout)
  const emulated = emulatedUpdate(store, isSession, inTurn)
  const update = store.update?.bind(store)

  /** Updates a record with `update` of the store. Returns null, without a change, if the record is not a session. */
  async function updateAtomically(
    atomically: NonNullable<typeof update>,
    id: string,
    change: RecordUpdater,
    expiry: SessionExpiry,
  ): Promise<SessionData | null> {
    let isThere = true
    const guarded: RecordUpdater = (current) => {
      isThere = isSession(current, id)
      if (!isThere) throw new Error('the record is not a session')
      return change(current)
    }
    try {
      return assertUpdated(await atomically(id, guarded, expiry))
    } catch (error) {
      if (!isThere) return null
      throw error
    }
  }

  const readJson = jsonReader(store.get)
  const lock = store.lock?.bind(store)

  async function acquire(id: string, take: NonNullable<typeof lock>): Promise<SessionLock> {
    // The lock of another process expires before that.
    const end = monotonic() + sessionLockTimeout + SLACK_MILLISECONDS
    const attempt = async (): Promise<SessionLock | undefined> =>
      (await take(id, sessionLockTimeout)) ?? undefined
    const first = await attempt()
    if (first) return first
    const limit = end - monotonic()
    const later = await retry(
      attempt,
      backoff({ first: RETRY_MILLISECONDS, longest: RETRY_MILLISECONDS, limit, now: monotonic }),
      pause,
    )
    if (later) return later
    throw new Error('the lock of a session could not be acquired')
  }

  return {
    get: (id) => askStore('get', async () => (readJson ? readJson(id) : { value: await store.get(id) })),
    set: (id, session, expiry) => writeTo(store, 'set', expiry, () => store.set(id, session, expiry)),
    delete: (id) =>
      askStore('delete', () => (update ? store.delete(id) : inTurn(id, () => store.delete(id)))),
    update: (id, change, expiry) =>
      writeTo(store, 'update', expiry, () =>
        update
          ? // One after the other: a store would have to retry concurrent updates of a record.
            inTurn(id, () => updateAtomically(update, id, change, expiry))
          : emulated(id, change, expiry),
      ),
    log,
    patience: httpTimeout,
    report: (error) => reportFailure(log, error),
    leaseMilliseconds: sessionLockTimeout,
    ...(lock ? { lock: (id: string) => askStore('lock', () => acquire(id, lock)) } : {}),
  }
}
