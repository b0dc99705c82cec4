import type { Config } from '../config/config.ts'
import type { RequestCookies } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { FormerSessionFound, FormerUnread } from './former.ts'
import type { SessionReference } from './model/reference.ts'
import type { ConnectionTokenSet, SessionData } from './model/session-data.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The session of one client in one request. A new slot has no properties, since they are only declared. */
export class SessionSlot {
  /** The sessions in a store that the request's cookies name; absent until they are read. */
  declare references?: MaybePromise<readonly SessionReference[]>
  /** The live session that the request carries, as it was first read, null without one; absent until then. */
  declare initial?: MaybePromise<StoredSession | null>
  /** The session as this request has saved it, null once it has ended; absent while nothing was saved. */
  declare current?: StoredSession | null
  /** The refreshed session of this process, if the request has first read that; null if it has first read that of its cookie. */
  declare refreshed?: StoredSession | null
  /** The writes of this request into cookies, one after the other; never rejects. */
  declare saving?: Promise<unknown>
  /** The session data after the application's latest update. */
  declare updated?: SessionData
  /** The application's updates of this request, one after the other; never rejects. */
  declare updating?: Promise<unknown>
  /**
   * Whether the request's cookies stay although it has no live session: it names sessions that were not looked up in the store, or
   * carries one that has ended in this process, so that the browser may have a newer one by now.
   */
  declare keepsCookies?: true
  /** The connection tokens that were read from cookies, with their encrypted values; absent until the first is read. */
  declare sealedConnectionTokens?: Map<ConnectionTokenSet, SealedConnectionToken>
  /** The session of the former library; absent until its cookies are read. */
  declare former?: Promise<FormerSessionFound | FormerUnread | null>
  /** The logout markers that the request carries; absent until they are read, and after another one is staged. */
  declare ended?: MaybePromise<readonly EndedSessions[]>
}

/** Runs `work` after the work before it in the same queue of the request, also if that failed. Rejects with what `work` throws. */
export function inTurn<T>(
  slot: SessionSlot,
  queue: 'saving' | 'updating',
  work: () => Promise<T>,
): Promise<T> {
  const running = Promise.resolve(slot[queue]).then(work)
  slot[queue] = running.catch(() => {})
  return running
}

/** An encrypted connection token as a cookie contains it. */
export interface SealedConnectionToken {
  /** The key of the session that it belongs to. */
  readonly sessionKey: string
  readonly sealed: string
}

/** The contents of a logout marker. */
export interface EndedSessions {
  /** The keys of the sessions. */
  readonly sessionKeys: readonly string[]
  /** Tag of provider and client. */
  readonly clientTag: string
  /** When they ended, seconds since the epoch. */
  readonly writtenAt: number
}

/**
 * Returns the session slot of the client with this configuration in one request. All exchanges of a request share their
 * slots; requests share none. Several clients may serve one request: each has its own slot.
 */
export function sessionSlot({ slots }: RequestCookies, config: Config): SessionSlot {
  const known = slots.byConfig?.get(config)
  if (known instanceof SessionSlot) return known
  const slot = new SessionSlot()
  slots.byConfig ??= new Map()
  slots.byConfig.set(config, slot)
  return slot
}
