import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The result of work on a session: the session after it, and a failure that does not undo the change. */
export interface SessionChange {
  readonly session: StoredSession
  readonly failure?: unknown
}

/** Operations of a storage whose sessions several processes use. */
export interface DistributedSessions {
  /**
   * Runs `work` on the current session, under its lock if the store can lock, and writes the result before it releases
   * the lock. If `work` fails and another process has changed the session meanwhile, runs it once more on that session.
   * `until` is when the lock must be released, in milliseconds of the monotonic clock; absent without a lock. With
   * `mayBeOld` the session is read again even without a lock. Throws `MISSING_SESSION` if the session ended meanwhile,
   * `SESSION_STORE_FAILED`.
   */
  exclusively<T extends SessionChange>(
    session: StoredSession,
    work: (current: StoredSession, until?: number) => Promise<T>,
    mayBeOld?: boolean,
  ): Promise<T>
  /** Sets the session that the request loads from now on; it is stored already. */
  adopt(exchange: Exchange, session: StoredSession): Promise<void>
  /** Returns the record id of the request's live session; null without one. */
  currentId(exchange: Exchange): Promise<string | null>
}

export interface SaveOptions {
  /**
   * Throws `SESSION_TOO_LARGE` if the session exceeds the size limit of its cookies. Default false, since the session may
   * contain a rotated refresh token.
   */
  readonly mustFit?: boolean
  /** Of a new session: the object that identical callbacks share, so that the session is created once. */
  readonly creation?: SessionCreation
}

/** The creation of one session in a store. */
export interface SessionCreation {
  /** Set by the first callback; resolves when the session is in the store. */
  stored?: Promise<void>
}

/** Stores sessions between requests. Stages cookies in the exchange; the host's binding writes them. */
export interface SessionStorage {
  /**
   * Returns the live session of this request, or null. Reads it once per request, never writes. Throws
   * `SESSION_STORE_FAILED` if the store fails.
   */
  load(exchange: Exchange): MaybePromise<StoredSession | null>
  /** Returns the session as this request first read it, whatever was saved since. */
  initial(exchange: Exchange): Promise<StoredSession | null>
  /**
   * Saves the session. Leaves out tokens that do not fit into cookies (see `SaveOptions`). A session with another session
   * key than the request's replaces the session of the request. Returns false if the session has ended meanwhile: then
   * nothing was written.
   */
  save(exchange: Exchange, session: StoredSession, options?: SaveOptions): Promise<boolean>
  /** Throws `SESSION_TOO_LARGE` if `save` with `mustFit` would. Absent if the size is not limited. */
  assertFits?(exchange: Exchange, session: StoredSession): Promise<void>
  /** Ends every session that the request carries, and stages the deletion of all cookies of the session's name. */
  destroy(exchange: Exchange): Promise<void>
  /**
   * Stages the deletion of this client's session cookies if none of them is a live session. Returns whether there were
   * any. Cookies of other applications stay.
   */
  sweep(exchange: Exchange): MaybePromise<boolean>
  /** Present if the sessions are in a store, which several processes may use. */
  readonly distributed?: DistributedSessions
}

/** A storage whose sessions several processes use. */
export interface DistributedSessionStorage extends SessionStorage {
  readonly distributed: DistributedSessions
}
