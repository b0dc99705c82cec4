import { randomToken } from '../crypto/random.ts'
import type { SessionData, TokenSet, User } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'

export interface NewSession {
  /** All claims of the ID token. */
  readonly claims: User
  readonly tokenSet: TokenSet
  /** Seconds since the epoch. */
  readonly now: number
}

/** The session of a fresh login, with every claim; what is saved is decided by hook or filter afterwards. */
export function createSession({ claims, tokenSet, now }: NewSession): SessionData {
  const sid = claims['sid']
  return {
    user: claims,
    tokenSet,
    internal: { ...(typeof sid === 'string' ? { sid } : {}), createdAt: now },
  }
}

/** A new identity for a new login: nothing of a session that the browser had before survives (fixation). */
export function freshlyStored(data: SessionData, now: number): StoredSession {
  return { data, handle: randomToken(16), usedAt: now }
}

/**
 * What an application's changes make of the session: members that it left out go, except those without which there is
 * no session; `internal` is never taken from outside.
 */
export function withChanges(current: SessionData, changes: Partial<SessionData>): SessionData {
  return {
    ...changes,
    user: changes.user ?? current.user,
    tokenSet: changes.tokenSet ?? current.tokenSet,
    internal: current.internal,
  }
}
