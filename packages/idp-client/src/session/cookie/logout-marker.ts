import { cookieBytes, MARKER_BYTES } from '../../http/cookie-budget.ts'
import type { CookieScope } from '../../http/cookie-jar.ts'
import type { Exchange, RequestCookies } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { all, chain } from '../../lib/chain.ts'
import type { Bytes } from '../../lib/utf8.ts'
import { strictText, utf8 } from '../../lib/utf8.ts'
import type { KnownSession } from '../model/lifetime.ts'
import { remaining } from '../model/lifetime.ts'
import type { EndedSessions } from '../session-slot.ts'
import { sessionSlot } from '../session-slot.ts'
import type { ClientParts } from '../storage.ts'

export interface LogoutMarkerParts extends ClientParts {
  readonly scope: (exchange: Exchange) => CookieScope
}

/**
 * The logout marker: a cookie `<session name>__ended`, set by a logout and by a login that replaces a session. The
 * response to a request that was sent before may still set the cookie of the ended session. The marker is never deleted,
 * since such a response may arrive at any time.
 */
export interface LogoutMarker {
  /** Returns whether a marker of the request ends the session. Ignores markers that cannot be decrypted. */
  hasEnded(exchange: RequestCookies, session: KnownSession): MaybePromise<boolean>
  /**
   * Stages the marker of the sessions, at least one, that end at this time in seconds since the epoch, for the rest of their maximum
   * lifetime.
   */
  leave(exchange: Exchange, ended: readonly KnownSession[], writtenAt: number): Promise<void>
  /** Corrects the time of a marker that is newer than a login, so that it does not end the session: clocks may differ. */
  admit(exchange: Exchange, session: KnownSession): Promise<void>
}

/** Maximum number of markers of one request that are opened. */
const MAX_MARKERS = 16
/** Maximum number of sessions that one marker names. */
const MAX_SESSION_KEYS = 16

const PARTS = /^1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22,}(?:~[A-Za-z0-9_-]{22,})*)\.([0-9a-z]{1,11})$/

function encodeMarker({ clientTag, sessionKeys, writtenAt }: EndedSessions): Bytes {
  return utf8([1, clientTag, sessionKeys.join('~'), writtenAt.toString(36)].join('.'))
}

/** Decodes a marker. Returns null for another version or invalid bytes; never throws. */
export function decodeMarker(bytes: Bytes): EndedSessions | null {
  try {
    const [, clientTag, sessionKeys, time] = PARTS.exec(strictText(bytes)) ?? []
    if (clientTag === undefined || sessionKeys === undefined || time === undefined) return null
    return { clientTag, sessionKeys: sessionKeys.split('~'), writtenAt: Number.parseInt(time, 36) }
  } catch {
    return null
  }
}

/** Returns whether the session started before the logout. One of the same second is a new login. */
function isOlder({ data }: KnownSession, { writtenAt }: Pick<EndedSessions, 'writtenAt'>): boolean {
  return data.internal.createdAt < writtenAt
}

export const toMarkerName = (sessionName: string): string => `${sessionName}__ended`

export function createLogoutMarker({ clientTag, config, scope, sealer }: LogoutMarkerParts): LogoutMarker {
  const { cookie, ...rules } = config.session
  const name = toMarkerName(cookie.name)

  const openOne = (sealed: string): MaybePromise<EndedSessions | null> =>
    chain(sealer.open('logout', sealed), (bytes) => bytes && decodeMarker(bytes))

  /** Decrypts the markers of this client. */
  const openAll = (sealed: readonly string[]): MaybePromise<readonly EndedSessions[]> =>
    chain(all(sealed.slice(0, MAX_MARKERS).map(openOne)), (markers) =>
      chain(clientTag(), (tag) => markers.filter((marker) => marker?.clientTag === tag) as EndedSessions[]),
    )

  /** Decrypts the markers of a request once, until another one is staged. Most requests carry none. */
  function markersIn(exchange: RequestCookies): MaybePromise<readonly EndedSessions[]> {
    const sealed = exchange.cookies.all(name)
    if (sealed.length === 0) return []
    const slot = sessionSlot(exchange, config)
    slot.ended ??= openAll(sealed)
    return slot.ended
  }

  /** Encrypts a marker, without the oldest keys if it is too large. */
  async function seal({ sessionKeys, ...marker }: EndedSessions): Promise<string> {
    const value = await sealer.seal('logout', encodeMarker({ ...marker, sessionKeys }))
    if (cookieBytes({ name, value }) <= MARKER_BYTES || sessionKeys.length === 1) return value
    return seal({ ...marker, sessionKeys: sessionKeys.slice(0, -1) })
  }

  async function stage(exchange: Exchange, marker: EndedSessions, maxAge: number): Promise<void> {
    const value = await seal(marker)
    delete sessionSlot(exchange, config).ended
    exchange.cookies.set({ name, scope: scope(exchange) }, value, Math.max(1, maxAge))
  }

  return {
    hasEnded: (exchange, session) =>
      chain(markersIn(exchange), (markers) =>
        markers.some((marker) => {
          if (marker.sessionKeys.includes(session.sessionKey)) return true
          // A time in the future means that one of two clocks is wrong: it does not show which event came first.
          return marker.writtenAt <= config.clock() && isOlder(session, marker)
        }),
      ),

    async leave(exchange, ended, writtenAt) {
      // The first is the session in use. The others need a key only if the marker's time does not end them already.
      const named = ended.filter((session, at) => at === 0 || !isOlder(session, { writtenAt }))
      // Keep the keys of markers that are not older: their clock may be ahead, or it is the same second.
      const before = (await markersIn(exchange)).filter((marker) => marker.writtenAt >= writtenAt)
      const candidates = [
        ...named.map(({ sessionKey }) => sessionKey),
        ...before.flatMap(({ sessionKeys }) => sessionKeys),
      ]
      const sessionKeys = [...new Set(candidates)].slice(0, MAX_SESSION_KEYS)
      // Another request may have recorded use meanwhile: only the absolute limit is certain.
      const now = config.clock()
      const lifetimes = ended.map((session) => remaining(session, { ...rules, rolling: false }, now))
      const longest = before.length > 0 ? rules.absoluteDuration : Math.max(...lifetimes)
      await stage(exchange, { clientTag: await clientTag(), sessionKeys, writtenAt }, longest)
    },

    async admit(exchange, session) {
      const ahead = (await markersIn(exchange)).find((marker) => isOlder(session, marker))
      if (!ahead) return
      const { createdAt } = session.data.internal
      await stage(exchange, { ...ahead, writtenAt: createdAt }, rules.absoluteDuration)
    },
  }
}
