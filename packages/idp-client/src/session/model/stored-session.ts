import type { AuthenticationClaims } from './authentication.ts'
import type { SessionData } from './session-data.ts'

/** A session as it is stored: the application's view and what only the library knows. */
export interface StoredSession {
  readonly data: SessionData
  /** The session key: a secret random name, for bindings of our own; never sent anywhere in clear. */
  readonly sessionKey: string
  /** When use was last recorded, seconds since the epoch. */
  readonly usedAt: number
  /** Tag of provider and client that it belongs to; absent on sessions made by the testing entry. */
  readonly client?: string
  /** Fingerprint of the authentication that the login requested; absent if every login requests the same. */
  readonly requestedAuthentication?: string
  /** Scope beyond the configured one that the application asked for, not a login link; guards count nothing else. */
  readonly ownScope?: string
  /**
   * The audience of the main token set was configured, chosen by the application, or by a login link where none is
   * configured. Sessions of earlier versions, which do not tell, may have one that a link chose instead.
   */
  readonly ownAudience?: true
  /** The authentication that was proven in this session; absent: see the stored ID token. */
  readonly authentication?: AuthenticationClaims
  /** The access token that the latest redemption brought: it is not left out when the session is too large. */
  readonly newAccessToken?: string
  /** The older copy that the browser or the store has: the next response that can should bring the new one. */
  readonly stale?: SessionData
}

/** A session, and a copy of it as it was read, which later changes do not affect. */
export interface Snapshot {
  readonly session: StoredSession
  readonly initial: () => SessionData
}

/** Maximum number of further access tokens and connection tokens, together, of one session in a store or in memory. */
export const MAX_FURTHER_TOKENS = 100

export function countFurtherTokens({ data: { accessTokens, connectionTokenSets } }: StoredSession): number {
  return (accessTokens?.length ?? 0) + (connectionTokenSets?.length ?? 0)
}

/** Copies a session as if it had been written and read again: changes of one copy do not affect the other. */
export function copySession(session: StoredSession): StoredSession {
  return { ...session, data: JSON.parse(JSON.stringify(session.data)) as SessionData }
}

/** A value as JSON can keep it; undefined when it cannot. */
export function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value from a cookie, a store or a hook has the properties that every session must have. */
export function isSessionData(value: unknown): value is SessionData {
  if (!isObject(value)) return false
  const { user, tokenSet, internal } = value
  if (!isObject(user) || typeof user['sub'] !== 'string' || user['sub'] === '') return false
  if (!isObject(tokenSet)) return false
  return isObject(internal) && Number.isFinite(internal['createdAt'])
}
