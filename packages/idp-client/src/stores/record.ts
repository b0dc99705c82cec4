import type { ProviderSession, SessionDataStore } from '../config/options.ts'
import { SessionStoreError } from '../errors/session.ts'
import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import { isObject } from '../lib/objects.ts'
import type { Owner } from '../session/ended-by.ts'
import type { SessionData, StoredInternalData } from '../session/model/session-data.ts'

/** How long the end of a session at the provider is remembered, in seconds. */
const REMEMBERED_SECONDS = 600

type Subject = { readonly [Name in keyof ProviderSession]?: string | undefined }

/**
 * Returns the key under which a logout token is remembered: that of its `sid`, or without `sid` that of its `sub`;
 * `undefined` if it has neither.
 */
function toEndedName({ iss, sid, sub }: Subject): string | undefined {
  if (sid !== undefined) return JSON.stringify([iss ?? null, sid])
  return sub === undefined ? undefined : JSON.stringify([iss ?? null, null, sub])
}

/** How a store keeps the times at which the provider has ended sessions. */
interface EndedTimes {
  /** Keeps a time for that many seconds. One that is later, or kept for longer, stays so. */
  keep(name: string, iat: number, seconds: number): Promise<void>
  read(name: string): Promise<number | null>
  /** Default: the clock of the system. */
  readonly clock?: Clock
}

interface Endings extends Required<Pick<SessionDataStore, 'endedAt' | 'rememberEnd'>> {
  /** Remembers the end of the sessions of a logout token for a while. */
  rememberToken(token: Subject & { readonly iat?: number | undefined }): Promise<void>
}

/** Creates the functions of a store that remember when the provider has ended sessions. */
export function createEndings({ clock = systemClock, keep, read }: EndedTimes): Endings {
  return {
    async endedAt({ iss, sid, sub }) {
      const names = [toEndedName({ iss, sid }), toEndedName({ iss, sub })]
      const times = await Promise.all(names.map((name) => (name === undefined ? null : read(name))))
      const known = times.filter((time) => time !== null)
      return known.length === 0 ? null : Math.max(...known)
    },

    async rememberEnd(session, { expiresAt }) {
      const name = toEndedName(session)
      if (name !== undefined) await keep(name, session.iat, expiresAt - clock())
    },

    async rememberToken(token) {
      const name = toEndedName(token)
      if (name !== undefined && token.iat !== undefined) await keep(name, token.iat, REMEMBERED_SECONDS)
    },
  }
}

export function toOwner({ internal, user }: SessionData): Owner {
  const { createdAt, iss, sid, sub = user.sub }: StoredInternalData = internal
  return { sub, sid, iss, createdAt }
}

/**
 * Escapes a name for a key or a column: different names stay different, and characters that databases reject (U+0000,
 * unpaired surrogates) are escaped. Names without such characters, quotes and backslashes are unchanged.
 */
export function escapeName(name: string): string {
  return JSON.stringify(name).slice(1, -1)
}

const PARSED =
  'The client of the store returned a session as an object, not as a string: turn off its JSON parsing ' +
  '(automaticDeserialization: false in @upstash/redis).'

/**
 * Parses a session from a database; returns `null` if it is not one. Throws `SESSION_STORE_FAILED` if the client has parsed it: an update
 * compares the string.
 */
export function parseSession(stored: unknown): SessionData | null {
  if (isObject(stored) && 'user' in stored)
    throw new SessionStoreError('SESSION_STORE_FAILED', { detail: PARSED, operation: 'get' })
  try {
    const value: unknown = JSON.parse(String(stored))
    const session = value as SessionData | null
    return session && isObject(session.user) && isObject(session.internal) ? session : null
  } catch {
    return null
  }
}
