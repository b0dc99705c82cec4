import { chunkNames, possibleNames } from '../../http/chunks.ts'
import { OVERDRAFT_BYTES } from '../../http/cookie-budget.ts'
import type { CookieAttributes, CookieJar, CookieScope } from '../../http/cookie-jar.ts'
import { cookieScope } from '../../http/cookie-jar.ts'
import type { Exchange } from '../../http/exchange.ts'
import { monotonic } from '../../lib/clock.ts'
import { remaining, toTimes } from '../model/lifetime.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { sessionSlot } from '../session-slot.ts'
import type { ClientParts, ProcessMemory } from '../storage.ts'
import { connectionCookieNames } from './connection-cookies.ts'

/**
 * How long after its decision a response may delete dead cookies, in milliseconds. Later, the browser may have those of a login that
 * another response completed, in any process.
 */
const MAX_DELAY = 1000

export interface SessionCookieParts extends ClientParts {
  readonly baseUrl: (exchange: Exchange) => string
  /** The memory of this process. Default: none. */
  readonly memory?: ProcessMemory
}

/** Writes and deletes the cookies of sessions, for every storage. */
export interface SessionCookies {
  scope(exchange: Exchange): CookieScope
  attributes(exchange: Exchange, session: StoredSession): CookieAttributes
  /** Returns whether the request carries a cookie of the session's name, valid or not. */
  isPresent(jar: CookieJar): boolean
  /** Stages the deletion of all cookies of the session's name, also those of other applications. */
  clearAll(exchange: Exchange): void
  /** The same for a new session, whose cookies are `kept`; also of cookies that the browser may have withheld. */
  clearEarlier(exchange: Exchange, kept: ReadonlySet<string>): void
  /**
   * Stages the deletion of the cookies of earlier writes of the session with this key, except `kept`. Cookies of other
   * applications and versions stay.
   */
  clearReplaced(exchange: Exchange, kept: ReadonlySet<string>, sessionKey: string): Promise<void>
  /**
   * Withdraws the cookies that are staged now, for a session, if it ends before the response leaves: they would replace those of a
   * later login.
   */
  dropIfEnded(exchange: Exchange, session: StoredSession): void
  /**
   * Stages the deletion of the cookies of this client, for a request without a live session. Returns whether there were
   * any. Cookies of other applications stay, and are reported once per process. A slow response deletes none.
   */
  clearDead(exchange: Exchange): Promise<boolean>
}

export function createSessionCookies(parts: SessionCookieParts): SessionCookies {
  const { baseUrl, config, memory } = parts
  const { cookie, ...rules } = config.session
  const scope = (exchange: Exchange): CookieScope => cookieScope(cookie, () => baseUrl(exchange))
  const namesIn = (jar: CookieJar): string[] => [
    ...chunkNames(cookie.name, jar.names(cookie.name)),
    ...connectionCookieNames(cookie.name, jar),
  ]

  function clear(exchange: Exchange, names: readonly string[]): void {
    if (names.length === 0) return
    const deleted = scope(exchange)
    for (const name of names) exchange.cookies.clear({ name, scope: deleted })
  }

  /**
   * Returns the names of an earlier session that the browser may have although the request does not carry it: with the POST
   * of another site (`response_mode=form_post`), browsers send cookies of `SameSite=None` only.
   */
  function withheldNames({ request: { method } }: Exchange): string[] {
    if (method !== 'POST' || cookie.sameSite === 'none') return []
    return possibleNames(cookie.name, cookie.maxBytes + OVERDRAFT_BYTES)
  }

  return {
    scope,

    attributes(exchange, session) {
      const maxAge = cookie.transient ? undefined : remaining(toTimes(session), rules, config.clock())
      return { ...scope(exchange), httpOnly: true, ...(maxAge === undefined ? {} : { maxAge }) }
    },

    isPresent: (jar) => namesIn(jar).length > 0,

    clearAll: (exchange) => clear(exchange, namesIn(exchange.cookies)),

    clearEarlier(exchange, kept) {
      const names = new Set([...namesIn(exchange.cookies), ...withheldNames(exchange)])
      clear(
        exchange,
        [...names].filter((name) => !kept.has(name)),
      )
    },

    async clearReplaced(exchange, kept, sessionKey) {
      const replaced = namesIn(exchange.cookies).filter((name) => !kept.has(name))
      if (replaced.length === 0) return
      const { writtenByOthers } = await import('./cookie-owners.ts')
      const others = await writtenByOthers(parts, exchange.cookies, sessionKey)
      clear(
        exchange,
        replaced.filter((name) => !others.has(name)),
      )
    },

    dropIfEnded({ cookies, slots }, { sessionKey }) {
      if (!memory) return
      cookies.withdrawIf(({ attributes, name }) => {
        if (name !== cookie.name && !name.startsWith(`${cookie.name}__`)) return false
        const { current } = sessionSlot({ cookies, slots }, config)
        if (current?.sessionKey === sessionKey) return memory.hasEnded(current)
        // This request has noticed the end, or has ended or replaced the session itself: its deletions are sent.
        return attributes.maxAge !== 0
      })
    },

    async clearDead(exchange) {
      const { deadCookies } = await import('./cookie-owners.ts')
      const dead = await deadCookies(parts, exchange.cookies)
      if (dead.length === 0) return false
      clear(exchange, dead)
      const until = monotonic() + MAX_DELAY
      exchange.cookies.withdrawIf(({ name }) => dead.includes(name) && monotonic() > until)
      return true
    },
  }
}
