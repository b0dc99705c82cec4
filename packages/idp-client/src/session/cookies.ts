import type { Config } from '../config/config.ts'
import type { CookieAttributes, CookieJar, CookieScope } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-scope.ts'
import type { Exchange } from '../http/exchange.ts'
import type { SessionTimes } from './lifetime.ts'
import { remaining } from './lifetime.ts'
import type { StoredSession } from './stored-session.ts'

export interface SessionCookieParts {
  readonly config: Config
  readonly baseUrl: (exchange: Exchange) => string
  /** Every cookie of a session in a request, readable or not. */
  readonly namesIn: (jar: CookieJar) => string[]
}

/** How every storage of sessions writes and deletes its cookies. */
export interface SessionCookies {
  scope(exchange: Exchange): CookieScope
  attributes(exchange: Exchange, session: StoredSession): CookieAttributes
  /** Stages the deletion of all but the `kept`; true when there were any. */
  clear(exchange: Exchange, kept?: ReadonlySet<string>): boolean
}

const NONE: ReadonlySet<string> = new Set()

export function timesOf({ data, usedAt }: StoredSession): SessionTimes {
  return { createdAt: data.internal.createdAt, usedAt }
}

export function sessionCookies({ baseUrl, config, namesIn }: SessionCookieParts): SessionCookies {
  const { cookie, ...rules } = config.session
  const scope = (exchange: Exchange): CookieScope => cookieScope(cookie, () => baseUrl(exchange))
  return {
    scope,

    attributes(exchange, session) {
      const maxAge = cookie.transient ? undefined : remaining(timesOf(session), rules, config.clock())
      return { ...scope(exchange), httpOnly: true, ...(maxAge === undefined ? {} : { maxAge }) }
    },

    clear(exchange, kept = NONE) {
      const stale = namesIn(exchange.cookies).filter((name) => !kept.has(name))
      if (stale.length === 0) return false
      const deleted = scope(exchange)
      for (const name of stale) exchange.cookies.clear({ name, scope: deleted })
      return true
    },
  }
}
