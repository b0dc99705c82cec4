import { SessionStoreError } from '../errors/session.ts'
import { isObject } from '../lib/objects.ts'
import type { SessionData } from '../session/model/session-data.ts'

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
