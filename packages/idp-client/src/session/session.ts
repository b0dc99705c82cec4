import { randomToken } from '../crypto/random.ts'
import type { InternalSessionData, SessionData, TokenSet, User } from './session-data.ts'
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

/**
 * A new identity for a new login: nothing of a session that the browser had before survives (fixation). `asked` is what
 * the login was asked for, see `StoredSession`.
 */
export function freshlyStored(data: SessionData, now: number, asked?: string): StoredSession {
  return { data, handle: randomToken(16), usedAt: now, ...(asked === undefined ? {} : { asked }) }
}

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

export interface Update {
  /** The session now, perhaps changed by others since `found` was read. */
  readonly current: SessionData
  /** The session as it was when the changes were begun. */
  readonly found: SessionData
  /** What it is to become, as far as whoever read `found` knows. */
  readonly changes: Partial<SessionData>
  /** What `internal` is to become, where the library itself changes it. */
  readonly internal?: InternalSessionData
}

type Members = Readonly<Record<string, unknown>>

/**
 * Member by member: what was left as it had been found comes from the current session, what was changed wins, and what
 * was left out goes, unless somebody else gave it another value meanwhile: nothing new is lost.
 */
function merged(current: Members, found: Members, changes: Members): Record<string, unknown> {
  const names = new Set([...Object.keys(current), ...Object.keys(changes)])
  const members = [...names].flatMap((name) => {
    const changed = changes[name]
    const untouched = same(changed, found[name])
    const gone = changed === undefined && same(current[name], found[name])
    const value = untouched || (changed === undefined && !gone) ? current[name] : changed
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(members)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

/**
 * What changes make of a session that others change too: see `merged`, for the session's own members and for those of
 * its token set. Without `user` and `tokenSet` there is no session, so they stay when left out; `internal` of `changes`
 * does not count, since that may come from outside.
 */
export function withChanges({ current, found, changes, internal = found.internal }: Update): SessionData {
  const { internal: _given, ...given } = changes
  const user = changes.user ?? found.user
  const tokenSet = changes.tokenSet ?? found.tokenSet
  const tokens = isObject(tokenSet)
    ? merged({ ...current.tokenSet }, { ...found.tokenSet }, { ...tokenSet })
    : tokenSet
  return {
    ...merged(current, found, { ...given, user, tokenSet: found.tokenSet }),
    tokenSet: tokens,
    internal: {
      ...current.internal,
      ...merged({ ...current.internal }, { ...found.internal }, { ...internal }),
    },
  } as SessionData
}
