import { IdpError } from '../../errors/base.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide } from '../../lib/registry.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { withFewerTokens } from '../model/further-tokens.ts'
import { withChanges } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import type { Snapshot, StoredSession } from '../model/stored-session.ts'
import { copySession, isSessionData } from '../model/stored-session.ts'
import type { GuardedStore } from './guarded-store.ts'
import { jsonCopy } from './json-copy.ts'
import { fromRecord, isRecordOf, recordId, toRecord } from './record.ts'

/** Reads and writes sessions as records of a store. A write applies only its changes to the current record. */
export interface StoreRecords {
  /** Returns null if there is no record, or if it is not a session. */
  read(sessionKey: string): Promise<Snapshot | null>
  /** Returns a snapshot of a session, on which changes can be based. */
  snapshot(session: StoredSession): Snapshot
  create(session: StoredSession): Promise<void>
  /** Writes a session and returns it with the changes of others; null if the record was deleted. */
  write(known: Snapshot, session: StoredSession): Promise<StoredSession | null>
  /**
   * Like `write`, but never drops the change: if the store rejects it, the change is kept in memory, served to this process,
   * and written by `flush` or with the next change. Throws `MISSING_SESSION` if the record was deleted.
   */
  persist(
    known: Snapshot,
    session: StoredSession,
  ): Promise<{ readonly session: StoredSession; readonly isWritten: boolean }>
  /** Retries a write that failed in `persist`. Returns whether nothing is pending any more. */
  flush(sessionKey: string): Promise<boolean>
  forget(sessionKey: string): Promise<void>
}

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

function merge(current: StoredSession, found: StoredSession, wanted: StoredSession): StoredSession {
  const { internal } = wanted.data
  const data = withChanges({ current: current.data, found: found.data, changes: wanted.data, internal })
  const { authentication: wantedAuthentication, ownScope: wantedScope, ...merged } = wanted
  // Keep a step-up that another process verified meanwhile, unless this change is a step-up itself.
  const isStepUp = !isSame(wantedAuthentication, found.authentication)
  const authentication = isStepUp ? wantedAuthentication : current.authentication
  const ownScope = wantedScope === found.ownScope ? current.ownScope : wantedScope
  const usedAt = Math.max(current.usedAt, wanted.usedAt)
  return {
    ...merged,
    data,
    usedAt,
    ...(authentication ? { authentication } : {}),
    ...(ownScope === undefined ? {} : { ownScope }),
  }
}

/** Returns whether nothing but the time of use differs. */
function hasOnlyBeenUsed({ found, session }: SessionDifference): boolean {
  return (['data', 'authentication', 'ownScope'] as const).every((name) => isSame(found[name], session[name]))
}

const getRefreshToken = ({ tokenSet }: SessionData): string | undefined => tokenSet.refreshToken

/** Adds a redemption to a pending one. */
function rebase(pending: PendingWrite | undefined, { found, session }: SessionDifference): PendingWrite {
  // Keep the first, which the store has. The length is limited, however long the store fails.
  const [first = [], others = []] = [pending?.after.slice(0, 1), pending?.after.slice(1)]
  const after = [...first, ...others.slice(2 - MAX_AFTER), getRefreshToken(found.data)]
  return pending
    ? { found: pending.found, session: merge(pending.session, found, session), after }
    : { found, session, after }
}

/** Adds the pending tokens to the session, unless another process continued from a token that this one does not know. */
function withPending(current: StoredSession, { after, found, session }: PendingWrite): StoredSession {
  const token = getRefreshToken(current.data)
  const isNext = token === getRefreshToken(session.data) || after.includes(token)
  return isNext ? merge(current, found, session) : current
}

function toSnapshot(session: StoredSession): Snapshot {
  // A string, because the application may modify the session.
  const json = JSON.stringify(session.data)
  return { session, initial: () => JSON.parse(json) as SessionData }
}

/** Returns a snapshot of a record that nothing else refers to. Only copies of it are handed out. */
const ownSnapshot = (session: StoredSession): Snapshot => ({ session, initial: () => session.data })

/** Returns a snapshot of a copy, because a store may return an object that it keeps. Only copies of it are handed out. */
function detachedSnapshot(session: StoredSession): Snapshot {
  const data = jsonCopy(session.data)
  return { session: { ...session, data }, initial: () => data }
}

function asFound({ initial: found, session }: Snapshot): StoredSession {
  return { ...session, data: found() }
}

function otherRecord(): SessionStoreError {
  const detail = 'sessionStore.get returned the record of another key.'
  return new SessionStoreError('SESSION_STORE_FAILED', { detail, operation: 'get' })
}

type EndsAt = (session: StoredSession) => number

interface Writer {
  /** Writes a change and the pending one before it. Returns the session after it; null if the record was deleted. */
  write(id: string, change: SessionDifference): Promise<StoredSession | null>
  /** Like `write`, for a change of nothing but the time of use: concurrent ones are written once. */
  recordUse(id: string, change: SessionDifference): Promise<StoredSession | null>
  /** Writes only the pending change, or drops it if another process has redeemed a later token. */
  flush(id: string, pending: PendingWrite): Promise<StoredSession | null>
  forget(id: string): Promise<void>
}

function writerTo(store: GuardedStore, endsAt: EndsAt): Writer {
  const recordsOfUse = new SingleFlight<StoredSession | null>()

  async function forget(id: string): Promise<void> {
    pendingWrites().delete(id)
    undeleted().set(id, true)
    // Retried once, because the first call on an idle connection may fail.
    await store.delete(id).catch(() => store.delete(id))
    undeleted().delete(id)
  }

  async function update(
    id: string,
    session: StoredSession,
    change: (current: StoredSession) => StoredSession,
  ): Promise<StoredSession | null> {
    if (undeleted().get(id)) return null
    const { sessionKey } = session
    const pending = pendingWrites().get(id)
    const changed = (record: SessionData): SessionData => {
      const current = fromRecord(record, sessionKey)
      return current ? toRecord(change(pending ? withPending(current, pending) : current), id) : record
    }
    const kept = await store.update(id, changed, { expiresAt: endsAt(session) })
    // Another redemption may have failed to write meanwhile.
    if (pendingWrites().get(id) === pending) pendingWrites().delete(id)
    const stored = kept && fromRecord(kept, sessionKey)
    return stored && copySession(stored)
  }

  const write = (id: string, { found, session }: SessionDifference): Promise<StoredSession | null> =>
    update(id, session, (current) => merge(current, found, session))

  const flush = (id: string, { session }: PendingWrite): Promise<StoredSession | null> =>
    update(id, session, (current) => current)

  async function recordUse(id: string, change: SessionDifference): Promise<StoredSession | null> {
    // The store may never respond: then later requests try again.
    const recorded = await recordsOfUse.run(id, () => write(id, change), { patience: store.patience })
    return recorded && copySession(recorded)
  }

  return { write, recordUse, flush, forget }
}

/** `endsAt` returns when a session ends, in seconds since the epoch, and its record may be deleted. */
export function createStoreRecords(store: GuardedStore, endsAt: EndsAt): StoreRecords {
  const { flush, forget, recordUse, write } = writerTo(store, endsAt)

  return {
    snapshot: toSnapshot,

    async read(sessionKey) {
      const id = await recordId(sessionKey)
      if (undeleted().get(id)) {
        await forget(id).catch(store.report)
        return null
      }
      const { json, value: given = null } = (await store.get(id)) ?? {}
      if (isSessionData(given) && !isRecordOf(given, id)) store.report(otherRecord())
      const record = isRecordOf(given, id) ? fromRecord(given, sessionKey) : null
      const pending = pendingWrites().get(id)
      if (!record) {
        // A replica of the store may lag behind: only a write shows whether the record was deleted.
        const stored = pending ? await flush(id, pending) : null
        return stored && toSnapshot(stored)
      }
      const read = json === undefined ? detachedSnapshot(record) : ownSnapshot(record)
      return pending ? toSnapshot({ ...withPending(read.session, pending), stale: read.session.data }) : read
    },

    async create(session) {
      const id = await recordId(session.sessionKey)
      await store.set(id, toRecord(withFewerTokens(session, store), id), { expiresAt: endsAt(session) })
    },

    async write(known, given) {
      const session = withFewerTokens(given, store)
      const id = await recordId(session.sessionKey)
      const found = asFound(known)
      const change = { found, session }
      return hasOnlyBeenUsed(change) ? recordUse(id, change) : write(id, change)
    },

    async persist(known, given) {
      const session = withFewerTokens(given, store)
      const id = await recordId(session.sessionKey)
      const change = { found: asFound(known), session }
      let kept: StoredSession | null
      try {
        kept = await write(id, change)
      } catch (error) {
        store.report(error)
        const pending = rebase(pendingWrites().get(id), change)
        pendingWrites().set(id, pending)
        return { session: pending.session, isWritten: false }
      }
      if (!kept) throw new IdpError('MISSING_SESSION')
      return { session: kept, isWritten: true }
    },

    async flush(sessionKey) {
      const id = await recordId(sessionKey)
      const pending = pendingWrites().get(id)
      if (!pending) return true
      return flush(id, pending).then(
        () => pendingWrites().get(id) === undefined,
        () => false,
      )
    },

    forget: async (sessionKey) => forget(await recordId(sessionKey)),
  }
}
