import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { CookieJar, CookieScope } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { timesOf } from './cookies.ts'
import { remaining } from './lifetime.ts'
import type { SessionReference } from './reference.ts'
import { decodeReference, encodeReference } from './reference.ts'
import type { StoredSession } from './stored-session.ts'

export interface LogoutMarkerParts {
  readonly config: Config
  readonly sealer: Sealer
  /** Tag of provider and client: a marker of one client ends no session of another. */
  readonly client: () => Promise<string>
  readonly scope: (exchange: Exchange) => CookieScope
}

/**
 * What a logout, or a login in place of another, leaves in the browser, in a cookie `<session name>__ended`: requests that were on their way may still
 * be answered with the session that ended. It is never deleted, since such an answer cannot know what it means.
 */
export interface LogoutMarker {
  /** Whether the browser has logged out of the session. A marker that does not open says nothing about anybody. */
  hasEnded(jar: CookieJar, session: StoredSession): Promise<boolean>
  /** Stages the marker of a session that ends now. It lasts as long as the session could have. */
  leave(exchange: Exchange, ended: StoredSession): Promise<void>
  /** The same of a session that another login takes the place of: an answer under way may bring it back as well. */
  replace(exchange: Exchange, ended: StoredSession, begun: StoredSession): Promise<void>
  /** A login is newer than every logout before it, also where that was on a machine whose clock is ahead. */
  admit(exchange: Exchange, begun: StoredSession): Promise<void>
}

/** Whether the session began before the logout. One of the same second is a new login. */
function isOlder({ data }: StoredSession, { writtenAt }: SessionReference): boolean {
  return data.internal.createdAt < writtenAt
}

export function logoutMarker({ client, config, scope, sealer }: LogoutMarkerParts): LogoutMarker {
  const { cookie, ...rules } = config.session
  const name = `${cookie.name}__ended`

  async function openOne(sealed: string): Promise<SessionReference[]> {
    const bytes = await sealer.open('logout', sealed)
    const marker = bytes && decodeReference(bytes)
    return marker && marker.client === (await client()) ? [marker] : []
  }

  async function markersIn(jar: CookieJar): Promise<readonly SessionReference[]> {
    const sealed = jar.all(name)
    return sealed.length === 0 ? [] : (await Promise.all(sealed.map(openOne))).flat()
  }

  async function stage(exchange: Exchange, marker: SessionReference, maxAge: number): Promise<void> {
    const value = await sealer.seal('logout', encodeReference(marker))
    exchange.cookies.set({ name, scope: scope(exchange) }, value, Math.max(1, maxAge))
  }

  async function mark(exchange: Exchange, ended: StoredSession, writtenAt: number): Promise<void> {
    const marker = { client: await client(), handle: ended.handle, writtenAt }
    // A request under way may have recorded use: only the absolute limit is sure.
    const lifetime = remaining(timesOf(ended), { ...rules, rolling: false }, config.clock())
    await stage(exchange, marker, lifetime)
  }

  return {
    async hasEnded(jar, session) {
      const markers = await markersIn(jar)
      return markers.some((marker) => {
        if (marker.handle === session.handle) return true
        // A logout of the future tells that one of two clocks is wrong, and nothing about who was first.
        return marker.writtenAt <= config.clock() && isOlder(session, marker)
      })
    },

    leave: (exchange, ended) => mark(exchange, ended, config.clock()),

    // Not newer than the login that it makes room for, whatever the clock says by now.
    replace: (exchange, ended, begun) => mark(exchange, ended, begun.data.internal.createdAt),

    async admit(exchange, begun) {
      const ahead = (await markersIn(exchange.cookies)).find((marker) => isOlder(begun, marker))
      if (!ahead) return
      const { createdAt } = begun.data.internal
      await stage(exchange, { ...ahead, writtenAt: createdAt }, rules.absoluteDuration)
    },
  }
}
