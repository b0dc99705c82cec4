import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import type { AccessTokenSet } from './model/session-data.ts'

/**
 * Access tokens that live in this process only, in neither cookie nor store: the library alone needs them, and the
 * refresh token brings them again. They are forgotten with their session.
 */

const SESSIONS = 1000

/* By session key, then by user, client and what the token is for. */
const sessions = (): Lru<string, Map<string, AccessTokenSet>> =>
  processWide('state:process-tokens/1', () => new Lru(SESSIONS))

export interface ProcessTokenKey {
  readonly sessionKey: string
  /** `sub` of its user: an application may put another one into it. */
  readonly user: string
  /** Provider and client that the token is from. */
  readonly client: string
  readonly audience: string
  readonly scope: string
}

const toKey = ({ audience, client, scope, user }: ProcessTokenKey): string =>
  JSON.stringify([user, client, audience, scope])

/** Returns the token that this process keeps for a session, unless it has expired. */
export function processToken(key: ProcessTokenKey, now: number): AccessTokenSet | undefined {
  const token = sessions().get(key.sessionKey)?.get(toKey(key))
  return token && token.expiresAt > now ? token : undefined
}

export function keepProcessToken(key: ProcessTokenKey, token: AccessTokenSet, now: number): void {
  const before = [...(sessions().get(key.sessionKey) ?? [])]
  const alive = before.filter(([, { expiresAt }]) => expiresAt > now)
  sessions().set(key.sessionKey, new Map([...alive, [toKey(key), token]]))
}

/** The session ended, or another one took its place. */
export function forgetProcessTokens(sessionKey: string): void {
  sessions().delete(sessionKey)
}
