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

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** Member by member: what the application left as it had found it comes from the current session, what it changed wins. */
function mergedTokens(current: TokenSet, found: TokenSet, changed: TokenSet): TokenSet {
  const names = new Set([...Object.keys(current), ...Object.keys(changed)]) as Set<keyof TokenSet>
  const members = [...names].flatMap((name) => {
    const value = same(changed[name], found[name]) ? current[name] : changed[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(members) as unknown as TokenSet
}

export interface Update {
  /** The session now, perhaps refreshed since the application read it. */
  readonly current: SessionData
  /** The session as the application read it. */
  readonly found: SessionData
  readonly changes: Partial<SessionData>
}

/**
 * What an application's changes make of the session: members that it left out go, except those without which there is
 * no session; `internal` is never taken from outside; `user` and tokens that it did not change are the current ones, so
 * that an update never undoes a refresh.
 */
export function withChanges({ current, found, changes }: Update): SessionData {
  const { accessTokens, tokenSet, user } = changes
  const isToken = typeof tokenSet === 'object' && tokenSet !== null
  const further = same(accessTokens, found.accessTokens) ? current.accessTokens : accessTokens
  const { accessTokens: _replaced, ...rest } = changes
  return {
    ...rest,
    ...(further === undefined ? {} : { accessTokens: further }),
    user: user === undefined || same(user, found.user) ? current.user : user,
    tokenSet: isToken
      ? mergedTokens(current.tokenSet, found.tokenSet, tokenSet)
      : (tokenSet ?? current.tokenSet),
    internal: current.internal,
  }
}
