import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The parts that encrypt for one client, and tell its sessions from those of others. */
export interface ClientParts {
  readonly config: Config
  readonly sealer: Sealer
  /** Returns the tag of provider and client, see `StoredSession.clientTag`. */
  readonly clientTag: () => MaybePromise<string>
}

/** The lock of one session. */
export interface AcquiredLock {
  /** When it expires, in milliseconds of the monotonic clock. */
  readonly until: number
  /** Never rejects: a failure is reported. */
  release(): Promise<void>
}

/** The result of a write that must not be lost: the session with the changes of others, and whether the store has it. */
export interface Persisted {
  readonly session: StoredSession
  readonly isWritten: boolean
}

/** The result of a repeated write: the session as the store has it now, null if it has ended. */
export interface Flushed {
  readonly session: StoredSession | null
}

/** The operations on a storage whose sessions several processes use. They throw `SESSION_STORE_FAILED`. */
export interface DistributedSessions {
  /** Waits for the lock of a session and acquires it. Returns undefined if the store cannot lock. */
  lock(sessionKey: string): Promise<AcquiredLock | undefined>
  /** Returns the session as it is now; null if it has ended. */
  read(sessionKey: string): Promise<StoredSession | null>
  /**
   * Writes the difference between two states of a session, which must not be lost: if the store rejects it, it is kept in
   * memory, and written by `flush` or with the next change. Returns the session with the changes of others. Throws
   * `MISSING_SESSION` if it has ended.
   */
  persist(found: StoredSession, changed: StoredSession): Promise<Persisted>
  /** Repeats a write that failed in `persist`, unless another change has written it since. Returns undefined if it fails again. */
  flush(sessionKey: string): Promise<Flushed | undefined>
}

export interface SaveOptions {
  /**
   * The session that the change is based on, of the same session key: what this request has saved since then is kept. Absent of a new
   * session.
   */
  readonly found?: StoredSession
  /**
   * Throws `SESSION_TOO_LARGE` if the session exceeds the size limit of its cookies. Default false, since the session may
   * contain a rotated refresh token.
   */
  readonly mustFit?: boolean
  /** With cookies: the application has changed `user`, which a refresh that completes meanwhile does not replace. Default false. */
  readonly ownUser?: boolean
  /** Of a new session: the object that identical callbacks share, so that the session is created once. */
  readonly creation?: SessionCreation
}

/** The creation of one session in a store. */
export interface SessionCreation {
  /** Set by the first callback; resolves when the session is in the store. */
  stored?: Promise<void>
}

/** How a session has ended: `replaced` by another login in the same browser. */
export type SessionEnd = 'ended' | 'replaced'

/** The memory of this process, which storages share with refreshes. */
export interface ProcessMemory {
  /** Remembers that a session has ended, and drops what this process keeps of it. */
  markEnded(sessionKey: string, end: SessionEnd): void
  /** Returns whether the session has ended in this process. */
  hasEnded(session: Pick<StoredSession, 'sessionKey'>): boolean
  /** Returns whether another login in the browser has replaced the session, in this process, within the last minute. */
  wasJustReplaced(session: Pick<StoredSession, 'sessionKey'>): boolean
  /** Keeps the main access token of a session whose cookies have no room for it. */
  keepMainToken(config: Config, session: StoredSession): void
}

/** Stores sessions between requests. Stages cookies in the exchange; the host's binding writes them. */
export interface SessionStorage {
  /**
   * Returns the live session of this request, or null. Reads it once per request, never stages a cookie. Throws
   * `SESSION_STORE_FAILED` if the store fails.
   */
  load(exchange: Exchange): MaybePromise<StoredSession | null>
  /**
   * Saves the session. Leaves out tokens that do not fit into cookies (see `SaveOptions`). A session with another session
   * key than the request's replaces the session of the request. A store also records the time of use; with cookies `usedAt`
   * is saved as given. Returns false if the session has ended meanwhile: then nothing was written.
   */
  save(exchange: Exchange, session: StoredSession, options?: SaveOptions): Promise<boolean>
  /** Throws `SESSION_TOO_LARGE` if `save` with `mustFit` would. Absent in a store, which has no limit in bytes. */
  assertFits?(exchange: Exchange, session: StoredSession): Promise<void>
  /**
   * Ends every session that the request carries, in a store at most 16, and stages the deletion of all cookies of the session's
   * name.
   */
  destroy(exchange: Exchange): Promise<void>
  /**
   * Stages the deletion of this client's session cookies if none of them is a live session. Returns whether there were
   * any. Cookies of other applications stay.
   */
  sweep(exchange: Exchange): MaybePromise<boolean>
  /** Present if the sessions are in a store, which several processes may use. */
  readonly distributed?: () => MaybePromise<DistributedSessions>
}
