import type { LogoutToken } from '../config/options.ts'
import type { SessionData, StoredInternalData } from '../session/model/session-data.ts'

/** The values by which a logout token may name a session. */
export interface Owner {
  readonly sub: string
  readonly sid: string | undefined
  readonly iss: string | undefined
  /** Seconds since the epoch. */
  readonly createdAt: number
}

/** Seconds by which the clocks of provider and application may differ. */
const TOLERANCE = 60

/** Seconds for which the end of a session at the provider is remembered. */
export const REMEMBERED_SECONDS = 600

/** The key under which the end of a provider session is stored. */
export function endedName(sid: string, iss: string | undefined): string {
  return JSON.stringify([iss ?? null, sid])
}

export function toOwner({ internal, user }: SessionData): Owner {
  const { createdAt, iss, sid, sub = user.sub }: StoredInternalData = internal
  return { sub, sid, iss, createdAt }
}

/**
 * Whether the token ends the session: by `sid` alone when it has one, otherwise all of the user that began before it; never
 * that of another issuer.
 */
export function isMeant({ createdAt, iss, sid, sub }: Owner, token: LogoutToken): boolean {
  if (token.iss !== undefined && iss !== undefined && token.iss !== iss) return false
  if (token.sid !== undefined) return token.sid === sid
  return token.sub === sub && !(token.iat !== undefined && createdAt > token.iat + TOLERANCE)
}

/**
 * A name as part of a key or as a column: any two stay apart, and whatever no database takes (U+0000, unpaired
 * surrogates) is escaped. Names without such characters, quotes and backslashes are left as they are.
 */
export function plain(name: string): string {
  return JSON.stringify(name).slice(1, -1)
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Reads the session in a database record; null if it is not a session. */
export function sessionIn(stored: unknown): SessionData | null {
  try {
    const value: unknown = JSON.parse(String(stored))
    const session = value as SessionData | null
    return session && isObject(session.user) && isObject(session.internal) ? session : null
  } catch {
    return null
  }
}
