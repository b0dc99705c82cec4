import type { Exchange } from '../http/exchange.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The changed session of an update; `failure` if it did not succeed. */
export interface SessionChange {
  readonly session: StoredSession
  readonly failure?: unknown
}

/** Operations of a storage whose sessions several processes share. */
export interface SharedSessions {
  /**
   * Runs `work` on the session as it is now, while no other process does so if the store can lock, and keeps what comes
   * of it before anybody else reads it. Runs it a second time, on what another process made of the session, when it
   * fails. `until` is when the lock has to be given back, by the monotonic clock in milliseconds; absent without a lock.
   * Throws `MISSING_SESSION` when the session ended meanwhile, `SESSION_STORE_FAILED`.
   */
  exclusively<T extends SessionChange>(
    session: StoredSession,
    work: (current: StoredSession, until?: number) => Promise<T>,
  ): Promise<T>
  /** Continues the request with a session that is already stored. */
  adopt(exchange: Exchange, session: StoredSession): Promise<void>
  /** The id of the record of the request's live session; null without one. */
  currentId(exchange: Exchange): Promise<string | null>
}

export interface SaveOptions {
  /**
   * Throws `SESSION_TOO_LARGE` where the session takes more bytes than its cookies may have. Default false, since the
   * write may carry a rotated refresh token.
   */
  readonly mustFit?: boolean
}

/** Where sessions live between requests. Cookies are staged in the exchange; the host's binding flushes them. */
export interface SessionStorage {
  /**
   * The live session of this request, or null. Read once per request, however often it is called. Never writes. Throws
   * `SESSION_STORE_FAILED` if the store fails.
   */
  load(exchange: Exchange): Promise<StoredSession | null>
  /** The session as the first operation of this request saw it, whatever was saved since. */
  initial(exchange: Exchange): Promise<StoredSession | null>
  /**
   * Keeps the session; what does not fit into cookies is left out, or written anyway (see `SaveOptions`). One with another
   * session key than the request's ends the session that was there. False when the session ended meanwhile: then nothing
   * was written.
   */
  save(exchange: Exchange, session: StoredSession, options?: SaveOptions): Promise<boolean>
  /** Throws `SESSION_TOO_LARGE` when a `save` that must fit would; absent where any size is stored. */
  assertFits?(exchange: Exchange, session: StoredSession): Promise<void>
  /** Ends every session that the request carries, and stages the deletion of all cookies of the session's name. */
  destroy(exchange: Exchange): Promise<void>
  /**
   * Stages the deletion of this client's session cookies where none of them is a live session; true when there were any.
   * Those of another application stay.
   */
  sweep(exchange: Exchange): Promise<boolean>
  /** Present where sessions have another place than the browser. */
  readonly shared?: SharedSessions
}

/** A storage whose sessions several processes share. */
export interface SharedSessionStorage extends SessionStorage {
  readonly shared: SharedSessions
}
