import type { Exchange } from '../http/exchange.ts'
import type { StoredSession } from './stored-session.ts'

/** What somebody made of a session; `failure` when it did not go well. */
export interface SessionChange {
  readonly session: StoredSession
  readonly failure?: unknown
}

/** What a storage can do where several processes share the sessions. */
export interface SharedSessions {
  /**
   * Runs `work` on the session as it is now, while no other process does so if the store can lock, and keeps what comes
   * of it before anybody else reads it. Runs it a second time, on what another process made of the session, when it
   * fails. Throws `MISSING_SESSION` when the session ended meanwhile, `SESSION_STORE_FAILED`.
   */
  exclusively<T extends SessionChange>(
    session: StoredSession,
    work: (current: StoredSession) => Promise<T>,
  ): Promise<T>
  /** The request goes on with a session that is kept already. */
  adopt(exchange: Exchange, session: StoredSession): Promise<void>
  /** The id of the record that the request names, whether or not there is one; null when it names none. */
  currentId(exchange: Exchange): Promise<string | null>
}

/** Where sessions live between requests. Cookies are staged in the exchange; the host's binding flushes them. */
export interface SessionStorage {
  /**
   * The live session of this request, or null. Read once per request however often it is asked. Never writes. Throws
   * `SESSION_STORE_FAILED` when nobody can tell.
   */
  load(exchange: Exchange): Promise<StoredSession | null>
  /** The session as the first operation of this request saw it, whatever was saved since. */
  original(exchange: Exchange): Promise<StoredSession | null>
  /**
   * Keeps the session; `SESSION_TOO_LARGE` when it does not fit into cookies. One with another handle than the
   * request's ends the session that was there. False when the session ended meanwhile: then nothing was written.
   */
  save(exchange: Exchange, session: StoredSession): Promise<boolean>
  /** Ends the session, and stages the deletion of everything that `save` may ever have written. */
  destroy(exchange: Exchange): Promise<void>
  /** Stages the deletion of session cookies that open as no live session; true when there were any. */
  sweep(exchange: Exchange): Promise<boolean>
  /** Present where sessions have another place than the browser. */
  readonly shared?: SharedSessions
}
