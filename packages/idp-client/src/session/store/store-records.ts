import type { Config } from '../../config/config.ts'
import { IdpError } from '../../errors/base.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { Lru } from '../../lib/lru.ts'
import { defined, isSameJson } from '../../lib/objects.ts'
import { processWide } from '../../lib/registry.ts'
import { SingleFlight } from '../../lib/shared-run.ts'
import { decodeClaims } from '../model/claims.ts'
import { withFewerTokens } from '../model/further-tokens.ts'
import type { KnownSession } from '../model/lifetime.ts'
import { endsAt, laterUse } from '../model/lifetime.ts'
import type { SessionDifference } from '../model/session.ts'
import { hasOnlyBeenUsed, withDifference } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { copySession, isSessionData } from '../model/stored-session.ts'
import { endStreamsOf } from '../open-streams.ts'
import type { AcquiredLock, DistributedSessions, Flushed, Persisted, SessionEnd } from '../storage.ts'
import type { CompleteStore } from './complete-store.ts'
import type { StoreSessionParts } from './in-store.ts'
import { fromRecord, isRecordOf, recordId, toOwner, toRecord } from './record.ts'

/** Tokens of redemptions that the store has rejected. */
interface PendingWrite extends SessionDifference {
  /** The refresh tokens that these redemptions have consumed: the record has one of them, unless others wrote it. */
  readonly consumed: readonly (string | undefined)[]
}

/** Maximum number of sessions with a pending write. */
const MAX_PENDING_WRITES = 1000
/** Maximum number of consumed refresh tokens that a pending write remembers. */
const MAX_CONSUMED = 16
/** Maximum number of records that are being deleted, or could not be. */
const MAX_UNDELETED = 10_000

/* By record id, a hash of the session key: sessions share no entry. Above the limit the one that is used least is lost. */
const pendingWrites = (): Lru<string, PendingWrite> =>
  processWide('state:pending-writes/4', () => new Lru(MAX_PENDING_WRITES))

/**
 * Records that are being deleted, or that the store failed to delete: this process treats them as gone, and a request that names
 * one deletes it.
 */
const undeleted = (): Lru<string, true> =>
  processWide('mark:undeleted-records/1', () => new Lru(MAX_UNDELETED))

/** The properties that contain the tokens of a session. */
const TOKENS = ['tokenSet', 'accessTokens', 'connectionTokenSets'] as const

const getRefreshToken = ({ data }: StoredSession): string | undefined => data.tokenSet.refreshToken

/** Adds a redemption to a pending one. */
function rebase(pending: PendingWrite | undefined, change: SessionDifference): PendingWrite {
  const consumed = [...(pending?.consumed ?? []), getRefreshToken(change.found)]
  // Keep the first, which the store has. The length is limited, however long the store fails.
  if (consumed.length > MAX_CONSUMED) consumed.splice(1, 1)
  return pending
    ? { found: pending.found, session: withDifference(pending.session, change), consumed }
    : { ...change, consumed }
}

/** Adds the pending tokens to a session without them, unless another process continued from a token that this one does not know. */
function withPending(current: StoredSession, pending: PendingWrite): StoredSession {
  if (!pending.consumed.includes(getRefreshToken(current))) return current
  const merged = withDifference(current, pending)
  // If tokens do not rotate, that of the record counts as consumed although the record may have the others already.
  const hasTokens = TOKENS.every((name) => isSameJson(current.data[name], merged.data[name]))
  return hasTokens ? current : merged
}

function otherRecord(): SessionStoreError {
  const detail = 'sessionStore.get returned the record of another key.'
  return new SessionStoreError('SESSION_STORE_FAILED', { detail, operation: 'get' })
}

/** Reads and writes sessions as records of a store. A write applies only its changes to the current record. */
export class StoreRecords implements DistributedSessions {
  readonly #config: Config
  readonly #store: CompleteStore
  readonly #memory: StoreSessionParts['memory']
  readonly #uses = new SingleFlight<StoredSession | null>()

  constructor({ config, memory, store }: Pick<StoreSessionParts, 'config' | 'memory' | 'store'>) {
    this.#config = config
    this.#store = store
    this.#memory = memory
  }

  async lock(sessionKey: string): Promise<AcquiredLock | undefined> {
    return this.#store.acquireLock(await recordId(sessionKey))
  }

  /**
   * Reads a session, with the tokens that the store has rejected so far. Returns null if there is no record, if it is not a
   * session, or if it is to be deleted, which is then tried again.
   */
  async read(sessionKey: string): Promise<StoredSession | null> {
    const id = await recordId(sessionKey)
    if (undeleted().get(id)) {
      await this.#delete(id).catch(this.#store.report)
      return null
    }
    let pending: PendingWrite | undefined
    let record: unknown
    do {
      pending = pendingWrites().get(id)
      record = await this.#store.get(id)
      // Again after a write meanwhile: the record may be the one before it.
    } while (pendingWrites().get(id) !== pending)
    const read = isRecordOf(record, id) ? fromRecord(record, sessionKey) : null
    if (!read && isSessionData(record)) this.#store.report(otherRecord())
    if (!pending) return read
    if (read) return { ...withPending(read, pending), needsWrite: true, older: read.data }
    // A replica of the store may lag behind: only a write shows whether the record was deleted.
    return this.#write(id, pending.session)
  }

  async create(given: StoredSession): Promise<void> {
    const session = withFewerTokens(given, this.#config)
    const id = await recordId(session.sessionKey)
    await this.#store.set(id, toRecord(session, id), {
      expiresAt: endsAt(session, this.#config.session),
    })
  }

  /** Writes a session and returns it with the changes of others; null if the record was deleted. */
  async write(found: StoredSession, changed: StoredSession): Promise<StoredSession | null> {
    const change = { found, session: withFewerTokens(changed, this.#config) }
    const id = await recordId(changed.sessionKey)
    const write = (): Promise<StoredSession | null> => this.#write(id, change.session, change)
    if (!hasOnlyBeenUsed(change)) return write()
    // Only the cookie is old, after a refresh for example.
    if (changed.usedAt <= found.usedAt && !pendingWrites().get(id)) return changed
    // Concurrent ones are written once. The store may never respond: then later requests try again.
    const used = await this.#uses.run(id, write, this.#config.httpTimeout)
    return used && copySession(used)
  }

  /**
   * Like `write`, but keeps a change that the store rejects in memory: this process reads it, and writes it by `flush` or with the
   * next change. It is dropped when the record is deleted, when another process has stored a later token, or above
   * `MAX_PENDING_WRITES`. Throws `MISSING_SESSION` if the record was deleted.
   */
  async persist(found: StoredSession, changed: StoredSession): Promise<Persisted> {
    const change = { found, session: withFewerTokens(changed, this.#config) }
    const id = await recordId(changed.sessionKey)
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

  async flush(sessionKey: string): Promise<Flushed | undefined> {
    const id = await recordId(sessionKey)
    const pending = pendingWrites().get(id)
    try {
      if (!pending) return { session: await this.read(sessionKey) }
      const session = await this.#write(id, pending.session)
      return pendingWrites().get(id) ? undefined : { session }
    } catch {
      return undefined
    }
  }

  async delete(sessionKey: string): Promise<void> {
    await this.#delete(await recordId(sessionKey))
  }

  /**
   * Deletes the records of sessions, and ends what this process keeps and sends for them. Best effort: a failure is reported, and
   * blocks neither logout nor login.
   */
  async end(
    sessions: readonly Pick<StoredSession, 'sessionKey'>[],
    end: SessionEnd = 'ended',
  ): Promise<void> {
    const keys = new Set(sessions.map(({ sessionKey }) => sessionKey))
    for (const key of keys) this.#memory.markEnded(key, end)
    await Promise.all([...keys].map((key) => this.delete(key).catch(this.#store.report)))
    await endStreamsOf(keys)
  }

  async #delete(id: string): Promise<void> {
    pendingWrites().delete(id)
    undeleted().set(id, true)
    // Retried once, because the first call on an idle connection may fail.
    await this.#store.delete(id).catch(() => this.#store.delete(id))
    undeleted().delete(id)
  }

  /**
   * Applies the pending tokens, unless another process has stored later ones, and then `change`, to the record in one update.
   * `session` names the record and decides when it expires. Returns the session after it; null if the record was deleted, or if the
   * provider has ended the session that it names now.
   */
  async #write(id: string, session: KnownSession, change?: SessionDifference): Promise<StoredSession | null> {
    if (undeleted().get(id)) return null
    let pending = pendingWrites().get(id)
    let sidBefore: string | undefined
    const update = (record: SessionData): SessionData => {
      const found = fromRecord(record, session.sessionKey)
      // Again: the write before this one may have stored it, and a change that it made must not be undone.
      pending = pendingWrites().get(id)
      sidBefore = (pending?.found ?? found).data.internal.sid
      const current = pending ? withPending(found, pending) : found
      return toRecord(change ? withDifference(current, change) : current, id)
    }
    const settle = async (record: unknown): Promise<StoredSession | null | 'ended'> => {
      const stored = isSessionData(record) ? fromRecord(record, session.sessionKey) : null
      // If the store cannot tell, `persist` keeps the change, and `flush` asks again, because of the `sid` before it.
      if (stored && stored.data.internal.sid !== sidBefore && (await this.#wasEndedMeanwhile(stored)))
        return 'ended'
      // Before the next change, which would apply it again. Another redemption may have failed to write meanwhile.
      if (pendingWrites().get(id) === pending) pendingWrites().delete(id)
      return stored
    }
    const { clock, session: rules } = this.#config
    // The record may have been used later than this session.
    const used = { ...session, usedAt: laterUse(session.usedAt, clock()) }
    const expiry = { expiresAt: endsAt(used, rules) }
    const written = await this.#store.update(id, update, expiry, settle)
    if (written !== 'ended') return written
    await this.end([session])
    return null
  }

  /** Returns whether the provider ended its session before the record had the `sid` by which it is found. */
  async #wasEndedMeanwhile(session: StoredSession): Promise<boolean> {
    const { iss, sid } = toOwner(session)
    const iat = decodeClaims(session.data.tokenSet.idToken)?.['iat'] ?? Number.NEGATIVE_INFINITY
    return this.#store.hasEndedSince(Number(iat) - this.#config.dpop.clockSkew, defined({ iss, sid }))
  }
}
