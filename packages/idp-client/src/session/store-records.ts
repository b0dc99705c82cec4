import { IdpError } from '../errors/base.ts'
import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'
import type { GuardedStore } from './guarded-store.ts'
import { recordId, recordOf, sessionOf } from './record.ts'
import { withChanges } from './session.ts'
import type { SessionData } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'

/** A session, and what it was when it was read, whatever somebody did to it since. */
export interface Known {
  readonly session: StoredSession
  readonly found: () => SessionData
}

/** Sessions as records of a store, each written as the changes that were made to it. */
export interface StoreRecords {
  /** Null when there is no record, or none that is a session. */
  read(handle: string): Promise<Known | null>
  /** The session as it is now, for changes that begin here. */
  known(session: StoredSession): Known
  create(session: StoredSession): Promise<void>
  /** What became of it, with what others changed meanwhile; null when the record is gone. */
  write(known: Known, session: StoredSession): Promise<StoredSession | null>
  /**
   * As `write`, for what must not be lost: what the store does not take stays in this process, leads its requests, and
   * is written by `settle` or with the next change. `MISSING_SESSION` when the record is gone.
   */
  keep(
    known: Known,
    session: StoredSession,
  ): Promise<{ readonly session: StoredSession; readonly written: boolean }>
  /** Writes what `keep` could not; true when nothing is left to write. */
  settle(handle: string): Promise<boolean>
  forget(handle: string): Promise<void>
}

interface Unwritten {
  readonly found: SessionData
  readonly session: StoredSession
}

const UNWRITTEN = 1000

/** By record id, which is a hash of a secret name: no two sessions meet here. */
const unwritten = (): Lru<string, Unwritten> => shared('unwritten-records/1', () => new Lru(UNWRITTEN))

function merge(current: StoredSession, found: SessionData, wanted: StoredSession): StoredSession {
  const { internal } = wanted.data
  const data = withChanges({ current: current.data, found, changes: wanted.data, internal })
  return { ...wanted, data, usedAt: Math.max(current.usedAt, wanted.usedAt) }
}

/** `endsAt` tells when a session ends, seconds since the epoch: until then its record is needed. */
export function storeRecords(store: GuardedStore, endsAt: (session: StoredSession) => number): StoreRecords {
  function known(session: StoredSession): Known {
    // As text, since the application gets the session itself to change it.
    const text = JSON.stringify(session.data)
    return { session, found: () => JSON.parse(text) as SessionData }
  }

  async function write({ found, session }: Unwritten): Promise<StoredSession | null> {
    const id = await recordId(session.handle)
    const change = (record: SessionData): SessionData => {
      const current = sessionOf(record, session.handle)
      return recordOf(current ? merge(current, found, session) : session)
    }
    const kept = await store.update(id, change, { expiresAt: endsAt(session) })
    unwritten().delete(id)
    return kept && sessionOf(kept, session.handle)
  }

  return {
    known,

    async read(handle) {
      const id = await recordId(handle)
      const record = sessionOf(await store.get(id), handle)
      if (!record) {
        unwritten().delete(id)
        return null
      }
      const read = known(record)
      // A store may have handed out its own object.
      const session = { ...record, data: read.found() }
      const late = unwritten().get(id)
      if (!late) return { ...read, session }
      return { ...read, session: { ...merge(session, late.found, late.session), behind: true } }
    },

    async create(session) {
      await store.set(await recordId(session.handle), recordOf(session), { expiresAt: endsAt(session) })
    },

    write: ({ found }, session) => write({ found: found(), session }),

    async keep({ found: foundThen }, session) {
      const found = foundThen()
      let kept: StoredSession | null
      try {
        kept = await write({ found, session })
      } catch {
        unwritten().set(await recordId(session.handle), { found, session })
        return { session, written: false }
      }
      if (!kept) throw new IdpError('MISSING_SESSION')
      return { session: kept, written: true }
    },

    async settle(handle) {
      const late = unwritten().get(await recordId(handle))
      if (!late) return true
      return write(late).then(
        () => true,
        () => false,
      )
    },

    async forget(handle) {
      const id = await recordId(handle)
      unwritten().delete(id)
      await store.delete(id)
    },
  }
}
