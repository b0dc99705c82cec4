import { isAbsent, isObject } from '../../lib/objects.ts'
import type { AuthenticationClaims } from './authentication.ts'
import type { SessionData } from './session-data.ts'

/** A session as it is stored: the data of the application, and further properties for the library. */
export interface StoredSession {
  readonly data: SessionData
  /** The session key: a secret random name, which is only sent encrypted. */
  readonly sessionKey: string
  /** When use was last recorded, seconds since the epoch. */
  readonly usedAt: number
  /** Tag of its provider and client; absent in sessions that the entry `testing` creates. */
  readonly clientTag?: string
  /**
   * Fingerprint of the authentication that the login requested, empty if every login requests the same; then, separated by
   * spaces, those of the logins of other guards just before.
   */
  readonly requestedAuthentication?: string
  /** Scope beyond the configured one that the application requested. Guards ignore what a login link requested. */
  readonly ownScope?: string
  /**
   * A login link chose a part of the scope, or the audience. The tokens may then contain text of an attacker: the cookie does
   * not compress them together with claims.
   */
  readonly fromLink?: true
  /** Names of the claims of `user` that came from UserInfo, and not from the ID token. */
  readonly userInfoClaims?: readonly string[]
  /** The authentication that was proven in this session. If absent, that of the stored ID token. */
  readonly authentication?: AuthenticationClaims
  /** Not stored: the access token of the latest redemption, which is not left out if the session is too large. */
  readonly newAccessToken?: string
  /**
   * Not stored: the next response that can set cookies writes the session, because the browser or the store has an older one, or because
   * its cookie is old.
   */
  readonly needsWrite?: true
  /** Not stored: the older data that the browser or the store has. */
  readonly older?: SessionData
}

/** Returns a session without what is about the request that loaded it. */
export function asStored({
  needsWrite: _needsWrite,
  older: _older,
  ...session
}: StoredSession): StoredSession {
  return session
}

/** Copies a session as if it had been written and read again: changes of one copy do not affect the other. */
export function copySession(session: StoredSession): StoredSession {
  return { ...session, data: JSON.parse(JSON.stringify(session.data)) as SessionData }
}

/** Returns a value after a round trip through JSON; undefined if that fails. */
export function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return undefined
  }
}

/** Returns whether the properties of these names that a token has are strings, and its expiry is a number. */
function isToken(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  const { expiresAt } = value
  if (!isAbsent(expiresAt) && !Number.isFinite(expiresAt)) return false
  return names.every((name) => isAbsent(value[name]) || typeof value[name] === 'string')
}

/** Returns whether a list of further tokens is absent, or each of them has what distinguishes it from the others. */
function areTokens(list: unknown, name: 'audience' | 'connection'): boolean {
  if (isAbsent(list)) return true
  const isComplete = (one: unknown): boolean =>
    isToken(one, []) && [one['accessToken'], one[name]].every((value) => typeof value === 'string')
  return Array.isArray(list) && list.every(isComplete)
}

/** Returns whether a value from a cookie, a store or a hook has the properties that every session must have. */
export function isSessionData(value: unknown): value is SessionData {
  if (!isObject(value)) return false
  const { accessTokens, connectionTokenSets, internal, tokenSet, user } = value
  if (!isObject(user) || typeof user['sub'] !== 'string' || user['sub'] === '') return false
  if (!isToken(tokenSet, ['accessToken', 'idToken', 'refreshToken'])) return false
  if (!areTokens(accessTokens, 'audience') || !areTokens(connectionTokenSets, 'connection')) return false
  return isObject(internal) && Number.isFinite(internal['createdAt'])
}
