import type { Exchange } from '../http/exchange.ts'
import type { StoredSession } from './stored-session.ts'

/** Where sessions live between requests. All writes are staged in the exchange; the host's binding flushes them. */
export interface SessionStorage {
  /** The live session of this request, or null. Opened once per request however often it is asked. Never writes. */
  load(exchange: Exchange): Promise<StoredSession | null>
  /** The session as the first operation of this request saw it, whatever was saved since. */
  original(exchange: Exchange): Promise<StoredSession | null>
  /**
   * Stages the session; `SESSION_TOO_LARGE` when it does not fit. One with another handle than the request's ends the
   * session that was there.
   */
  save(exchange: Exchange, session: StoredSession): Promise<void>
  /** Stages the deletion of everything that `save` may ever have written. */
  destroy(exchange: Exchange): Promise<void>
  /**
   * Runs `work` while no other process does so for this session: where several share a store, one of them redeems a
   * refresh token. Absent where a session has no place but its browser.
   */
  exclusively?<T>(session: StoredSession, work: () => Promise<T>): Promise<T>
  /** Stages the deletion of session cookies that open as no live session; true when there were any. */
  sweep(exchange: Exchange): Promise<boolean>
}
