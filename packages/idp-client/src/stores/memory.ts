import type { SessionDataStore } from '../config/options.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import { UsedNames } from '../lib/used-names.ts'
import type { Owner } from '../session/ended-by.ts'
import { createEndedInMemory, endingsInMemory, isEndedBy, toRecordOwner } from '../session/ended-by.ts'
import type { SessionData } from '../session/model/session-data.ts'

export type { User } from '../session/model/session-data.ts'

export interface MemoryStoreOptions {
  /**
   * Name of the store. Stores with the same name share their data, even if a process loads several copies of the
   * module. Default `default`.
   */
  name?: string | undefined
  /**
   * Maximum number of sessions; above it the least recently used one is dropped. Default 10000. The first store with a
   * name decides.
   */
  maxSessions?: number | undefined
  /** Clock for the expiry of sessions, in integer seconds since the epoch. Default: the system clock. */
  clock?: Clock | undefined
}

interface StoredRecord {
  /** Serialized, so that no caller has a reference into the store. */
  readonly text: string
  readonly owner: Owner
  readonly expiresAt: number
}

/** Maximum number of sessions, and of their locks, unless `maxSessions` is set. */
const MAX_SESSIONS = 10_000

const parse = ({ text }: StoredRecord): SessionData => JSON.parse(text) as SessionData

const getMemory = (name: string, maxSessions: number) =>
  processWide(`state:memory-store ${name}/4`, () => ({
    sessions: new Lru<string, StoredRecord>(maxSessions),
    /** Ends of locks, in milliseconds of the process's monotonic clock. */
    locks: new Lru<string, { readonly until: number }>(maxSessions),
    names: new UsedNames(),
    ended: createEndedInMemory(),
  }))

function liveSessions(sessions: Lru<string, StoredRecord>, clock: Clock) {
  /** Returns the sessions with a matching owner. */
  function select(matches: (owner: Owner) => boolean): [id: string, record: StoredRecord][] {
    const now = clock()
    return [...sessions.entries()].filter(([, { expiresAt, owner }]) => expiresAt > now && matches(owner))
  }

  return {
    get(id: string): StoredRecord | null {
      const record = sessions.get(id)
      if (record && record.expiresAt > clock()) return record
      sessions.delete(id)
      return null
    },

    put(id: string, session: SessionData, expiresAt: number): StoredRecord {
      const record = { text: JSON.stringify(session), owner: toRecordOwner(session), expiresAt }
      sessions.set(id, record)
      return record
    },

    select,

    /** Deletes the sessions with a matching owner and returns their number. */
    remove(matches: (owner: Owner) => boolean): number {
      const chosen = select(matches)
      for (const [id] of chosen) sessions.delete(id)
      return chosen.length
    },
  }
}

/**
 * Creates a session store in the memory of this process, for development and tests: sessions are lost at a restart and
 * not shared with other processes. Otherwise it behaves like the other stores.
 *
 * @throws InvalidConfigurationError `maxSessions` is not a positive integer
 */
export function memoryStore(options: MemoryStoreOptions = {}): Required<SessionDataStore> {
  const { clock = systemClock, maxSessions = MAX_SESSIONS, name = 'default' } = options
  if (!Number.isSafeInteger(maxSessions) || maxSessions < 1)
    throw invalidAtStart('maxSessions of memoryStore has to be an integer above 0.')
  const { ended, locks, names, sessions } = getMemory(name, maxSessions)
  const live = liveSessions(sessions, clock)

  const { rememberToken, ...endings } = endingsInMemory(ended, clock)

  return {
    ...endings,

    async get(id) {
      const record = live.get(id)
      return record && parse(record)
    },

    async set(id, session, { expiresAt }) {
      live.put(id, session, expiresAt)
    },

    async delete(id) {
      sessions.delete(id)
    },

    async deleteByLogoutToken(token) {
      await rememberToken(token)
      live.remove((owner) => isEndedBy(owner, token))
    },

    async update(id, change, { expiresAt }) {
      const record = live.get(id)
      return record && parse(live.put(id, change(parse(record)), expiresAt))
    },

    async lock(id, milliseconds) {
      const now = performance.now()
      if ((locks.get(id)?.until ?? 0) > now) return null
      const lock = { until: now + milliseconds }
      locks.set(id, lock)
      return {
        async release() {
          if (locks.get(id) === lock) locks.delete(id)
        },
      }
    },

    async listBySubject(sub) {
      return live.select((owner) => owner.sub === sub).map(([id, record]) => ({ id, session: parse(record) }))
    },

    async deleteBySubject(sub) {
      return live.remove((owner) => owner.sub === sub)
    },

    async once(name, { expiresAt }) {
      const isNew = names.take(name, { expiresAt, now: clock() })
      if (isNew === undefined) throw new Error('a memoryStore remembers too many names to take another one')
      return isNew
    },
  }
}
