import type { LogoutToken, ProviderSession, SessionDataStore } from '../config/options.ts'
import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import type { SessionData, StoredInternalData } from './model/session-data.ts'

/** Properties of a session that a logout token may match. */
export interface Owner {
  readonly sub: string
  readonly sid: string | undefined
  readonly iss: string | undefined
  /** Seconds since the epoch. */
  readonly createdAt: number
}

/** Returns whose session a record is. */
export function toRecordOwner({ internal, user }: SessionData): Owner {
  const { createdAt, iss, sid, sub = user.sub }: StoredInternalData = internal
  return { sub, sid, iss, createdAt }
}

/** Tolerated difference between the clocks of provider and application, in seconds. */
const TOLERANCE = 60

/**
 * Returns whether the token ends the session: by `sid` alone if it has one, otherwise every session of the user that
 * began before it; never one of another issuer.
 */
export function isEndedBy({ createdAt, iss, sid, sub }: Owner, token: LogoutToken): boolean {
  if (token.iss !== undefined && iss !== undefined && token.iss !== iss) return false
  if (token.sid !== undefined) return token.sid === sid
  return token.sub === sub && !(token.iat !== undefined && createdAt > token.iat + TOLERANCE)
}

/** How long the end of a session at the provider is remembered, in seconds: longer than a callback takes. */
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

/**
 * Maximum number of ended sessions and users in memory. The provider adds them by logout tokens, and anybody by front-channel
 * logouts, of which 12,000 arrive in `REMEMBERED_SECONDS` at most: 20 per second.
 */
const MAX_ENDED = 20_000

type EndedInMemory = Lru<string, { readonly iat: number; readonly until: number }>

export const createEndedInMemory = (): EndedInMemory => new Lru(MAX_ENDED)

/** Creates the functions of `createEndings` for a store that keeps the times in memory, in seconds since the epoch. */
export function endingsInMemory(ended: EndedInMemory, clock: Clock): Endings {
  const find = (name: string) => {
    const known = ended.get(name)
    return known && known.until > clock() ? known : undefined
  }
  return createEndings({
    clock,
    async keep(name, iat, seconds) {
      const until = clock() + seconds
      const known = find(name) ?? { iat, until }
      ended.set(name, { iat: Math.max(iat, known.iat), until: Math.max(until, known.until) })
    },
    read: async (name) => find(name)?.iat ?? null,
  })
}
