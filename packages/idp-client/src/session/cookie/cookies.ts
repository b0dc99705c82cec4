import type { NamedValue } from '../../http/chunks.ts'
import { possibleNames } from '../../http/chunks.ts'
import { isSessionCookie, OVERDRAFT_BYTES, sumBytes } from '../../http/cookie-budget.ts'
import type { CookieAttributes, CookieJar, CookieScope } from '../../http/cookie-jar.ts'
import { cookieScope } from '../../http/cookie-jar.ts'
import type { Exchange } from '../../http/exchange.ts'
import { monotonic } from '../../lib/clock.ts'
import { remaining } from '../model/lifetime.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { sessionSlot } from '../session-slot.ts'
import type { ClientParts, ProcessMemory } from '../storage.ts'
import { toMarkerName } from './logout-marker.ts'

/**
 * How long after its decision a response may delete dead cookies, in milliseconds. Later, the browser may have those of a login that
 * another response completed, in any process. Quick responses of the process that completed it know the session that it replaced:
 * `keepsCookies` of the slot, `wasJustReplaced`.
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
  /**
   * Stages the cookies of a session, unless it ends before the response leaves: they would replace those of a later login. Deletes the
   * other cookies of the name: for a new session like `clearAll`, and also those that the browser may have withheld; otherwise those of
   * earlier writes of this session, while cookies of other applications and versions stay.
   */
  stage(
    exchange: Exchange,
    session: StoredSession,
    cookies: readonly NamedValue[],
    isNew: boolean,
  ): Promise<void>
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
  const isOwn = (name: string): boolean => isSessionCookie(cookie.name, name)
  const namesIn = (jar: CookieJar): string[] => jar.names(cookie.name).filter(isOwn)

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

  function attributes(exchange: Exchange, session: StoredSession): CookieAttributes {
    const maxAge = cookie.transient ? undefined : remaining(session, rules, config.clock())
    return { ...scope(exchange), httpOnly: true, ...(maxAge === undefined ? {} : { maxAge }) }
  }

  /** Stages the deletion of the cookies of earlier writes of a session, except `kept`. Cookies of others stay. */
  async function clearReplaced(
    exchange: Exchange,
    { sessionKey }: StoredSession,
    kept: readonly string[],
  ): Promise<void> {
    const replaced = namesIn(exchange.cookies).filter((name) => !kept.includes(name))
    if (replaced.length === 0) return
    const { writtenByOthers } = await import('./cookie-owners.ts')
    const others = await writtenByOthers(parts, exchange.cookies, sessionKey)
    const own = replaced.filter((name) => !others.has(name))
    clear(exchange, own)
  }

  /** Withdraws the cookies of a session that are staged now if it ends before the response leaves. */
  function dropIfEnded({ cookies, slots }: Exchange, { sessionKey }: StoredSession): void {
    if (!memory) return
    cookies.withdrawIf(({ attributes, name }) => {
      if (!isOwn(name) && name !== toMarkerName(cookie.name)) return false
      const { current } = sessionSlot({ cookies, slots }, config)
      if (current?.sessionKey === sessionKey) return memory.hasEnded(current)
      // This request has noticed the end, or has ended or replaced the session itself: its deletions are sent.
      return attributes.maxAge !== 0
    })
  }

  return {
    scope,
    attributes,

    isPresent: (jar) => namesIn(jar).length > 0,

    clearAll: (exchange) => clear(exchange, namesIn(exchange.cookies)),

    async stage(exchange, session, cookies, isNew) {
      const { httpOnly: _always, maxAge, ...written } = attributes(exchange, session)
      const names = cookies.map(({ name }) => name)
      if (isNew) clear(exchange, [...namesIn(exchange.cookies), ...withheldNames(exchange)])
      else await clearReplaced(exchange, session, names)
      // In place of a deletion of the same name.
      for (const { name, value } of cookies) exchange.cookies.set({ name, scope: written }, value, maxAge)
      dropIfEnded(exchange, session)
      const bytes = sumBytes(cookies)
      config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: cookies.length })
    },

    async clearDead(exchange) {
      if (sessionSlot(exchange, config).keepsCookies) return false
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
