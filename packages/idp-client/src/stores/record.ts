import type { ProviderSession } from '../config/options.ts'
import { SessionStoreError } from '../errors/session.ts'
import { isObject } from '../lib/objects.ts'
import type { Owner } from '../session/ended-by.ts'
import type { SessionData, StoredInternalData } from '../session/model/session-data.ts'

/** How long the end of a session at the provider is remembered, in seconds. */
export const REMEMBERED_SECONDS = 600

type Subject = { readonly [Name in keyof ProviderSession]: string | undefined }

/**
 * Returns the key under which a logout token is remembered: that of its `sid`, or without `sid` that of its `sub`;
 * `undefined` if it has neither.
 */
export function toEndedName({ iss, sid, sub }: Subject): string | undefined {
  if (sid !== undefined) return JSON.stringify([iss ?? null, sid])
  return sub === undefined ? undefined : JSON.stringify([iss ?? null, null, sub])
}

/** Creates the function `endedAt` of a store, from the one that returns the `iat` that is stored under a key. */
export function createEndedAt(
  readTime: (name: string) => Promise<number | null>,
): (session: ProviderSession) => Promise<number | null> {
  return async ({ iss, sid, sub }) => {
    const names = [toEndedName({ iss, sid, sub: undefined }), toEndedName({ iss, sid: undefined, sub })]
    const times = await Promise.all(names.map((name) => (name === undefined ? null : readTime(name))))
    const known = times.filter((time) => time !== null)
    return known.length === 0 ? null : Math.max(...known)
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
