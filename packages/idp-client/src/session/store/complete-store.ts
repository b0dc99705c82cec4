import type { ApiConfig } from '../../config/config.ts'
import type { LogoutToken, ProviderSession, SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import type { StoreOperation } from '../../errors/session.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { monotonic } from '../../lib/clock.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, processWideFor } from '../../lib/registry.ts'
import { retry } from '../../lib/retry.ts'
import { ALL_KEYS, KeyedMutex, SingleFlight } from '../../lib/shared-run.ts'
import { reportFailure } from '../../log/failure.ts'
import { createEndedInMemory, endingsInMemory } from '../ended-by.ts'
import type { SessionData } from '../model/session-data.ts'
import type { AcquiredLock } from '../storage.ts'
import { copyRecord, isRecordOf } from './record.ts'
import { toStoreError } from './store-error.ts'

/** Interval of the attempts to acquire a lock, in milliseconds. */
const RETRY_MILLISECONDS = 40
/** How long a request waits for a lock after the lock should have expired, in milliseconds. */
const SLACK_MILLISECONDS = 1000
/** How often a task that fails may be tried, if the store remembers names; after that, `once` returns false. */
const ATTEMPTS = 3
/** Maximum number of processed names of a store: only the provider, which signs logout tokens, adds names. */
const MAX_PROCESSED = 10_000

/** Changes of records in this process, by record id: a hash of the session key. */
const changes = () => processWide('queue:record-changes/4', () => new KeyedMutex<string>())

/**
 * The tasks that are running for a store and, if it has no `once`, the names of those that have run, with their expiry in seconds
 * since the epoch. By store: the provider may send one logout token to several applications of a client, each with its own
 * sessions.
 */
const processing = (store: SessionDataStore) =>
  processWideFor('mark:processed-once/5', store, () => ({
    running: new SingleFlight<boolean>(),
    processed: new Lru<string, number>(MAX_PROCESSED),
  }))

/** The ends of sessions in a store that remembers none. */
const endingsIn = (store: SessionDataStore, { clock }: ApiConfig) =>
  endingsInMemory(processWideFor('mark:ended-at-provider/5', store, createEndedInMemory), clock)

/** Other libraries define an `update` that stores `change` in place of a session, and returns a boolean or nothing. */
function assertUpdated<T>(updated: T): T {
  if (typeof updated === 'object') return updated
  throw new SessionStoreError('SESSION_STORE_FAILED', {
    detail:
      'sessionStore.update returned no session and not null: update(id, session) of other libraries does that.',
    operation: 'update',
    remedy: 'SESSION_STORE_UPDATE',
  })
}

/** Returns a function that rejects, for one that the store lacks. */
function unsupported(name: string): (..._given: unknown[]) => Promise<never> {
  return async () => {
    throw new SessionStoreError('SESSION_STORE_UNSUPPORTED', { detail: `The store has no ${name}.` })
  }
}

/** Wraps a function of a store: throws its failures as `SESSION_STORE_FAILED`. */
export function guarded<Given extends unknown[], T>(
  operation: StoreOperation,
  call: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  return async (...given) => {
    try {
      return await call(...given)
    } catch (cause) {
      throw toStoreError(operation, cause)
    }
  }
}

type Functions = Required<SessionDataStore>

type EndingToken = LogoutToken & { readonly iat: number }

type RecordUpdater = (current: SessionData) => SessionData

/**
 * The application's store with every function: what it lacks, this process does for itself, or rejects with
 * `SESSION_STORE_UNSUPPORTED`, which `supports` tells beforehand. A failure of the application's functions is thrown as
 * `SESSION_STORE_FAILED`.
 */
export class CompleteStore {
  /** Returns a copy of a record: the store may keep the object that it returns. */
  readonly get: (id: string) => Promise<unknown>
  readonly #config: ApiConfig
  readonly #given: SessionDataStore
  /** Result of the first call of `update`. */
  #firstUpdate: { readonly result: unknown } | undefined

  constructor(config: ApiConfig, given: SessionDataStore) {
    // Not `guarded`: every request reads, and this is one promise less.
    this.get = async (id) => {
      try {
        return copyRecord(await given.get(id))
      } catch (cause) {
        throw toStoreError('get', cause)
      }
    }
    this.#config = config
    this.#given = given
  }

  /** Returns whether the application's store has a function. */
  supports(name: keyof SessionDataStore): boolean {
    return this.#given[name] !== undefined
  }

  readonly set: Functions['set'] = guarded('set', async (id, session, expiry) => {
    await this.#assertSignature(expiry)
    await this.#given.set(id, session, expiry)
  })

  // Without `update` of the store, a running change would write the record again.
  readonly delete: Functions['delete'] = guarded('delete', (id) =>
    this.#given.update ? this.#given.delete(id) : this.#inTurn(id, () => this.#given.delete(id)),
  )

  /**
   * Changes a record. Returns what `settle` makes of a copy of it as it was written, before the next change of this process begins;
   * `settle` gets null, and nothing is written, if it is not the session of this id.
   */
  update<T>(
    id: string,
    change: RecordUpdater,
    expiry: SessionExpiry,
    settle: (record: unknown) => Promise<T>,
  ): Promise<T> {
    const write = guarded('update', async () => {
      await this.#assertSignature(expiry)
      return copyRecord(await this.#update(id, change, expiry))
    })
    // One after the other: a store would have to retry concurrent updates of a record.
    return this.#inTurn(id, async () => settle(await write()))
  }

  /** Calls `update` before the first write, for an id that no session has: its result shows its signature. */
  async #assertSignature(expiry: SessionExpiry): Promise<void> {
    if (!this.#given.update) return
    this.#firstUpdate ??= { result: await this.#given.update(randomToken(), (current) => current, expiry) }
    assertUpdated(this.#firstUpdate.result)
  }

  #inTurn<T>(id: string | typeof ALL_KEYS, work: () => Promise<T>): Promise<T> {
    return changes().run(id, work, this.#config.httpTimeout)
  }

  async #update(id: string, change: RecordUpdater, expiry: SessionExpiry): Promise<SessionData | null> {
    let isSession = true
    const changeSession: RecordUpdater = (current) => {
      isSession = isRecordOf(current, id)
      if (!isSession) throw new Error('the record is not a session')
      return change(current)
    }
    try {
      if (this.#given.update) return assertUpdated(await this.#given.update(id, changeSession, expiry))
      // Atomic in this process, but not across processes.
      const current = await this.#given.get(id)
      if (!current) return null
      const changed = changeSession(current)
      await this.#given.set(id, changed, expiry)
      return changed
    } catch (error) {
      if (isSession) throw error
      return null
    }
  }

  /**
   * Waits until the lock is free, and acquires it. Returns undefined if the store cannot lock; throws if another process holds
   * the lock for longer than it lasts.
   */
  readonly acquireLock: (id: string) => Promise<AcquiredLock | undefined> = guarded('lock', async (id) => {
    if (!this.#given.lock) return undefined
    const duration = this.#config.sessionLockTimeout
    const end = monotonic() + duration + SLACK_MILLISECONDS
    const attempt = async (): Promise<AcquiredLock | undefined> => {
      // Before the call: for the store, the lock begins when it receives that.
      const until = monotonic() + duration
      const lock = await this.#given.lock?.(id, duration)
      if (!lock) return undefined
      const release = guarded('lock', () => lock.release())
      // Retried once, because the first call on an idle connection may fail. Otherwise others wait until the lock expires.
      return { until, release: () => release().catch(release).catch(this.report) }
    }
    const spacing = { first: RETRY_MILLISECONDS, longest: RETRY_MILLISECONDS }
    const lock = (await attempt()) ?? (await retry(attempt, { ...spacing, limit: end - monotonic() }))
    if (!lock) throw new Error('the lock of a session could not be acquired')
    return lock
  })

  /**
   * Takes a name in the store, until it expires. Returns true for one call in all processes; unlike `once`, it has no work that
   * could fail and be repeated. Throws `SESSION_STORE_UNSUPPORTED` without `once` of the store.
   */
  readonly take: (name: string, expiry: SessionExpiry) => Promise<boolean> = guarded(
    'once',
    async (name, { expiresAt }) => {
      const { once = unsupported('once') } = this.#given
      // Not every value that counts as true: such a store could let a DPoP proof pass twice.
      return (await once.call(this.#given, name, { expiresAt })) === true
    },
  )

  /**
   * Runs `work` once for a name, until it expires: once in all processes if the store remembers names, otherwise once in
   * this one. Returns false if it ran before, or has failed `ATTEMPTS` times in a store that remembers names. Throws what
   * `work` throws, and may then be called again; a call with the same name while it runs shares the outcome, in another process it
   * runs `work`, too. Names are unique across clients.
   */
  once(name: string, { expiresAt }: SessionExpiry, work: () => Promise<void>): Promise<boolean> {
    const task = (): Promise<boolean> =>
      this.#given.once ? this.#onceInStore(name, expiresAt, work) : this.#onceInProcess(name, expiresAt, work)
    return processing(this.#given).running.run(name, task, this.#config.httpTimeout)
  }

  /**
   * A name in a store cannot be released, so each attempt uses the next one, and the attempt that succeeds uses the rest.
   * An attempt that failed, or whose process died, leaves names for another.
   */
  async #onceInStore(name: string, expiresAt: number, work: () => Promise<void>): Promise<boolean> {
    const takeName = guarded('once', async (part: string) => this.#given.once?.(part, { expiresAt }))
    const names = Array.from({ length: ATTEMPTS }, (_, attempt) => `${name}.${attempt}`)
    for (const [index, part] of names.entries()) {
      if (!(await takeName(part))) continue
      await work()
      await Promise.all(names.slice(index + 1).map(takeName))
      return true
    }
    return false
  }

  async #onceInProcess(name: string, expiresAt: number, work: () => Promise<void>): Promise<boolean> {
    const { processed } = processing(this.#given)
    const now = this.#config.clock()
    if ((processed.get(name) ?? now) > now) return false
    await work()
    processed.set(name, expiresAt)
    return true
  }

  /** Deletes the sessions of a token. Remembers their end first: a login calls `endedAt` after it has stored its session. */
  readonly deleteByLogoutToken: (token: EndingToken) => Promise<void> = guarded('logout', async (token) => {
    if (!this.#given.endedAt) await endingsIn(this.#given, this.#config).rememberToken(token)
    const { deleteByLogoutToken = unsupported('deleteByLogoutToken') } = this.#given
    return this.#deleteForGood(() => deleteByLogoutToken.call(this.#given, token))
  })

  /** Returns the latest end of a session at the provider that is known, by its `sid` or by the `sub` of its user. */
  readonly endedAt: Functions['endedAt'] = guarded('endedAt', (session) =>
    this.#given.endedAt
      ? this.#given.endedAt(session)
      : endingsIn(this.#given, this.#config).endedAt(session),
  )

  /** Returns whether an end of the session at the provider is known, in the second of this time or later. */
  async hasEndedSince(time: number, session: ProviderSession): Promise<boolean> {
    const endedAt = await this.endedAt(session)
    return endedAt !== null && Math.floor(time) <= endedAt
  }

  readonly rememberEnd: Functions['rememberEnd'] = guarded('logout', async (ended, { expiresAt }) => {
    const { rememberEnd = unsupported('rememberEnd') } = this.#given
    await rememberEnd.call(this.#given, ended, { expiresAt })
  })

  readonly listBySubject: Functions['listBySubject'] = guarded('list', (sub) => {
    const { listBySubject = unsupported('listBySubject') } = this.#given
    return listBySubject.call(this.#given, sub)
  })

  readonly deleteBySubject: Functions['deleteBySubject'] = guarded('delete', (sub) => {
    const { deleteBySubject = unsupported('deleteBySubject') } = this.#given
    return this.#deleteForGood(() => deleteBySubject.call(this.#given, sub))
  })

  /** Without `update` of the store, a change that has read a record before the deletion would write it again. */
  #deleteForGood<T>(deletion: () => Promise<T>): Promise<T> {
    return this.#given.update ? deletion() : this.#inTurn(ALL_KEYS, deletion)
  }

  /** Reports a failure that no caller receives. */
  readonly report = (error: unknown): void => reportFailure(this.#config.log, error)
}
