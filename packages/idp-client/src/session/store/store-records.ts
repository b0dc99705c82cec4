import type { Config } from '../../config/config.ts'
import { IdpError } from '../../errors/base.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide } from '../../lib/registry.ts'
import { SingleFlight } from '../../lib/shared-run.ts'
import { withFewerTokens } from '../model/further-tokens.ts'
import { endsAt, toTimes } from '../model/lifetime.ts'
import { withChanges } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import type { Snapshot, StoredSession } from '../model/stored-session.ts'
import { copySession } from '../model/stored-session.ts'
import type { CompleteStore } from './complete-store.ts'
import { fromRecord, isRecordOf, recordId, toRecord } from './record.ts'

/** A session before and after a change: what a write applies to the record as it is then. */
interface SessionDifference {
  readonly found: StoredSession
  readonly session: StoredSession
}

/** Tokens of redemptions that the store has rejected. */
interface PendingWrite extends SessionDifference {
  /** The consumed refresh tokens that precede it. */
  readonly after: readonly (string | undefined)[]
}

/** Maximum number of sessions with a pending write. */
const MAX_PENDING_WRITES = 1000
/** Maximum number of earlier refresh tokens that a pending write remembers. */
const MAX_AFTER = 16
/** Maximum number of records that the store failed to delete. */
const MAX_UNDELETED = 10_000

/* By record id, a hash of the session key: sessions share no entry. */
const pendingWrites = (): Lru<string, PendingWrite> =>
  processWide('state:pending-writes/3', () => new Lru(MAX_PENDING_WRITES))

/** Records that the store failed to delete: this process treats them as gone, and a request that names one retries it. */
const undeleted = (): Lru<string, true> =>
  processWide('mark:undeleted-records/1', () => new Lru(MAX_UNDELETED))

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

function merge(current: StoredSession, { found, session }: SessionDifference): StoredSession {
  const { authentication: _authentication, ownScope: _scope, ...merged } = session
  const data = withChanges({
    current: current.data,
    found: found.data,
    changes: session.data,
    internal: session.data.internal,
  })
  // Keep a step-up that another process verified meanwhile, unless this change is a step-up itself.
  const isStepUp = !isSame(session.authentication, found.authentication)
  const { authentication } = isStepUp ? session : current
  const { ownScope } = session.ownScope === found.ownScope ? current : session
  return {
    ...merged,
    data,
    usedAt: Math.max(current.usedAt, session.usedAt),
    ...(authentication ? { authentication } : {}),
    ...(ownScope === undefined ? {} : { ownScope }),
  }
}

/** Returns whether nothing but the time of use differs. */
function hasOnlyBeenUsed({ found, session }: SessionDifference): boolean {
  return (['data', 'authentication', 'ownScope'] as const).every((name) => isSame(found[name], session[name]))
}

const getRefreshToken = ({ data }: StoredSession): string | undefined => data.tokenSet.refreshToken

/** Adds a redemption to a pending one. */
function rebase(pending: PendingWrite | undefined, change: SessionDifference): PendingWrite {
  const after = [...(pending?.after ?? []), getRefreshToken(change.found)]
  // Keep the first, which the store has. The length is limited, however long the store fails.
  if (after.length > MAX_AFTER) after.splice(1, 1)
  return pending
    ? { found: pending.found, session: merge(pending.session, change), after }
    : { ...change, after }
}

/** Adds the pending tokens to the session, unless another process continued from a token that this one does not know. */
function withPending(current: StoredSession, pending: PendingWrite): StoredSession {
  const token = getRefreshToken(current)
  const isNext = token === getRefreshToken(pending.session) || pending.after.includes(token)
  return isNext ? merge(current, pending) : current
}

/** Returns a snapshot of a session, on which changes can be based. */
export function toSnapshot(session: StoredSession): Snapshot {
  // A string, because the application may modify the session.
  const json = JSON.stringify(session.data)
  return { session, initial: () => JSON.parse(json) as SessionData }
}

/** Returns a snapshot of a copy of a record. Only copies of it are handed out. */
const ownSnapshot = (session: StoredSession): Snapshot => ({ session, initial: () => session.data })

function toDifference({ initial, session }: Snapshot, changed: StoredSession): SessionDifference {
  return { found: { ...session, data: initial() }, session: changed }
}

function otherRecord(): SessionStoreError {
  const detail = 'sessionStore.get returned the record of another key.'
  return new SessionStoreError('SESSION_STORE_FAILED', { detail, operation: 'get' })
}

/** Reads and writes sessions as records of a store. A write applies only its changes to the current record. */
export class StoreRecords {
  readonly #config: Config
  readonly #store: CompleteStore
  readonly #recordsOfUse = new SingleFlight<StoredSession | null>()

  constructor(config: Config, store: CompleteStore) {
    this.#config = config
    this.#store = store
  }

  /** Returns null if there is no record, or if it is not a session. */
  async read(sessionKey: string): Promise<Snapshot | null> {
    const id = await recordId(sessionKey)
    if (undeleted().get(id)) {
      await this.#delete(id).catch(this.#store.report)
      return null
    }
    const record = await this.#store.get(id)
    const session = fromRecord(record, sessionKey)
    const isOther = session && !isRecordOf(record, id)
    if (isOther) this.#store.report(otherRecord())
    const read = session && !isOther ? ownSnapshot(session) : null
    const pending = pendingWrites().get(id)
    if (!pending) return read
    if (read) return toSnapshot({ ...withPending(read.session, pending), stale: read.session.data })
    // A replica of the store may lag behind: only a write shows whether the record was deleted.
    const stored = await this.#write(id, pending.session)
    return stored && toSnapshot(stored)
  }

  async create(given: StoredSession): Promise<void> {
    const session = withFewerTokens(given, this.#config)
    const id = await recordId(session.sessionKey)
    await this.#store.set(id, toRecord(session, id), {
      expiresAt: endsAt(toTimes(session), this.#config.session),
    })
  }

  /** Writes a session and returns it with the changes of others; null if the record was deleted. */
  async write(known: Snapshot, session: StoredSession): Promise<StoredSession | null> {
    const change = toDifference(known, withFewerTokens(session, this.#config))
    const id = await recordId(session.sessionKey)
    if (!hasOnlyBeenUsed(change)) return this.#write(id, change.session, change)
    // Concurrent ones are written once. The store may never respond: then later requests try again.
    const write = (): Promise<StoredSession | null> => this.#write(id, change.session, change)
    const used = await this.#recordsOfUse.run(id, write, this.#config.httpTimeout)
    return used && copySession(used)
  }

  /**
   * Like `write`, but never drops the change: if the store rejects it, the change is kept in memory, served to this process,
   * and written by `flush` or with the next change. Throws `MISSING_SESSION` if the record was deleted.
   */
  async persist(
    known: Snapshot,
    session: StoredSession,
  ): Promise<{ readonly session: StoredSession; readonly isWritten: boolean }> {
    const change = toDifference(known, withFewerTokens(session, this.#config))
    const id = await recordId(session.sessionKey)
    try {
      const kept = await this.#write(id, change.session, change)
      if (kept) return { session: kept, isWritten: true }
    } catch (error) {
      this.#store.report(error)
      const pending = rebase(pendingWrites().get(id), change)
      pendingWrites().set(id, pending)
      return { session: pending.session, isWritten: false }
    }
    throw new IdpError('MISSING_SESSION')
  }

  /** Retries a write that failed in `persist`. Returns whether nothing is pending any more. */
  async flush(sessionKey: string): Promise<boolean> {
    const id = await recordId(sessionKey)
    const pending = pendingWrites().get(id)
    if (pending) await this.#write(id, pending.session).catch(() => {})
    return pendingWrites().get(id) === undefined
  }

  async forget(sessionKey: string): Promise<void> {
    await this.#delete(await recordId(sessionKey))
  }

  async #delete(id: string): Promise<void> {
    pendingWrites().delete(id)
    undeleted().set(id, true)
    // Retried once, because the first call on an idle connection may fail.
    await this.#store.delete(id).catch(() => this.#store.delete(id))
    undeleted().delete(id)
  }

  /**
   * Writes the pending change, unless another process has redeemed a later token, and then a further one. Returns the session
   * after it; null if the record was deleted.
   */
  async #write(
    id: string,
    session: StoredSession,
    change?: SessionDifference,
  ): Promise<StoredSession | null> {
    if (undeleted().get(id)) return null
    const pending = pendingWrites().get(id)
    const update = (record: SessionData): SessionData => {
      const found = fromRecord(record, session.sessionKey)
      if (!found) return record
      const current = pending ? withPending(found, pending) : found
      return toRecord(change ? merge(current, change) : current, id)
    }
    const kept = await this.#store.update(id, update, {
      expiresAt: endsAt(toTimes(session), this.#config.session),
    })
    // Another redemption may have failed to write meanwhile.
    if (pendingWrites().get(id) === pending) pendingWrites().delete(id)
    const stored = kept && fromRecord(kept, session.sessionKey)
    return stored && copySession(stored)
  }
}
