import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import { chunkNames, hasFurtherCookies, joinedCookies } from '../http/chunks.ts'
import type { CookieAttributes, CookieJar, CookieScope } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-scope.ts'
import type { Exchange } from '../http/exchange.ts'
import { decodeSession } from './codec.ts'
import { connectionCookieNames } from './connection-cookies.ts'
import type { SessionTimes } from './lifetime.ts'
import { remaining } from './lifetime.ts'
import { decodeReference } from './reference.ts'
import type { StoredSession } from './stored-session.ts'

export interface SessionCookieParts {
  readonly config: Config
  readonly sealer: Sealer
  /** Tag of provider and client, see `StoredSession.client`. */
  readonly client: () => Promise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

/** How every storage of sessions writes and deletes its cookies. */
export interface SessionCookies {
  scope(exchange: Exchange): CookieScope
  attributes(exchange: Exchange, session: StoredSession): CookieAttributes
  /** Whether the request carries any cookie of the session's name, readable or not. */
  isPresent(jar: CookieJar): boolean
  /** Stages the deletion of all cookies of the session's name but `kept`, whoever sealed them. */
  clearAll(exchange: Exchange, kept?: ReadonlySet<string>): void
  /**
   * Stages the deletion of the cookies of an earlier write of this session, all but `kept`. Cookies of another
   * application stay.
   */
  clearReplaced(exchange: Exchange, kept: ReadonlySet<string>): Promise<void>
  /**
   * Stages the deletion of what this client sealed, for a request without a live session; true when there was any.
   * Cookies of another application stay, with one notice per process.
   */
  clearDead(exchange: Exchange): Promise<boolean>
}

const NONE: ReadonlySet<string> = new Set()

const FOREIGN_COOKIE =
  'A request carries a cookie with the name of the session cookie that this application did not write. It stays until a ' +
  'login or logout here replaces it. If another application runs on this host, give each of them its own ' +
  'session.cookie.name; otherwise check that all processes have the same secret, and still have the previous one.'

const FURTHER_COOKIES =
  'A request carries more cookies with the name of the session cookie than are looked at; none of them is deleted.'

export function timesOf({ data, usedAt }: StoredSession): SessionTimes {
  return { createdAt: data.internal.createdAt, usedAt }
}

/** The cookies of the session's name in one request, by who sealed them. */
interface Inspection {
  /** Names of the cookies that this client sealed. */
  readonly own: ReadonlySet<string>
  /** Names of the cookies that somebody else sealed. */
  readonly foreign: ReadonlySet<string>
}

function inspector({ client, config, sealer }: SessionCookieParts) {
  const { name } = config.session.cookie

  /** Both kinds count, since a deployment may have moved its sessions from cookies to a store or back. */
  async function isOwn(sealed: string): Promise<boolean> {
    const session = await sealer.open('session', sealed)
    const reference = session ? null : await sealer.open('session-id', sealed)
    const tagged = (session && decodeSession(session)) ?? (reference && decodeReference(reference))
    if (tagged) return tagged.client === undefined || tagged.client === (await client())
    // Sealed with one of our secrets, then cut or changed, or of a format that this version does not know.
    return (await sealer.isOwn('session', sealed)) || (await sealer.isOwn('session-id', sealed))
  }

  return async (jar: CookieJar): Promise<Inspection> => {
    const own = new Set<string>()
    const foreign = new Set<string>()
    for (const { names, value } of joinedCookies(name, (each) => jar.all(each))) {
      const found = (await isOwn(value)) ? own : foreign
      for (const each of names) found.add(each)
    }
    return { own, foreign }
  }
}

export function sessionCookies(parts: SessionCookieParts): SessionCookies {
  const { baseUrl, config } = parts
  const { cookie, ...rules } = config.session
  const inspect = inspector(parts)
  const scope = (exchange: Exchange): CookieScope => cookieScope(cookie, () => baseUrl(exchange))
  const namesIn = (jar: CookieJar): string[] => [
    ...chunkNames(cookie.name, jar.names()),
    ...connectionCookieNames(cookie.name, jar.names()),
  ]

  function clear(exchange: Exchange, stale: readonly string[]): void {
    if (stale.length === 0) return
    const deleted = scope(exchange)
    for (const name of stale) exchange.cookies.clear({ name, scope: deleted })
  }

  return {
    scope,

    attributes(exchange, session) {
      const maxAge = cookie.transient ? undefined : remaining(timesOf(session), rules, config.clock())
      return { ...scope(exchange), httpOnly: true, ...(maxAge === undefined ? {} : { maxAge }) }
    },

    isPresent: (jar) => namesIn(jar).length > 0,

    clearAll(exchange, kept = NONE) {
      clear(
        exchange,
        namesIn(exchange.cookies).filter((name) => !kept.has(name)),
      )
    },

    async clearReplaced(exchange, kept) {
      const stale = namesIn(exchange.cookies).filter((name) => !kept.has(name))
      if (stale.length === 0) return
      const { foreign, own } = await inspect(exchange.cookies)
      clear(
        exchange,
        stale.filter((name) => own.has(name) || !foreign.has(name)),
      )
    },

    async clearDead(exchange) {
      const { cookies } = exchange
      const { foreign, own } = await inspect(cookies)
      if (foreign.size > 0) config.log.once(FOREIGN_COOKIE)
      if (hasFurtherCookies(cookie.name, (each) => cookies.all(each))) {
        config.log.once(FURTHER_COOKIES)
        return false
      }
      if (own.size === 0) return false
      const loose = chunkNames(cookie.name, cookies.names()).filter((name) => !foreign.has(name))
      // Tokens of connections name the session that they belong to, but no client: they may be those of the other one.
      const connections = foreign.size > 0 ? [] : connectionCookieNames(cookie.name, cookies.names())
      clear(exchange, [...new Set([...own, ...loose, ...connections])])
      return true
    },
  }
}
