import type { Config } from '../config/config.ts'
import { Lru } from '../lib/lru.ts'
import { processWide, toKey } from '../lib/registry.ts'
import type { AccessTokenSet, SessionData } from './model/session-data.ts'
import type { StoredSession } from './model/stored-session.ts'

/**
 * Access tokens that only the library uses, and main access tokens that did not fit into the cookies. They are in this
 * process until their session ends, since the refresh token can obtain them again.
 */

/** Maximum number of sessions with such tokens. */
const MAX_SESSIONS = 1000
/** Maximum number of tokens of one session; above it the oldest is dropped. */
const MAX_TOKENS = 100

interface ProcessToken {
  readonly key: string
  readonly token: AccessTokenSet
}

/** By session key. A list, since the tokens of a session end together. */
const sessions = (): Lru<string, readonly ProcessToken[]> =>
  processWide('state:process-tokens/2', () => new Lru(MAX_SESSIONS))

const getTokens = (sessionKey: string): readonly ProcessToken[] => sessions().get(sessionKey) ?? []

export interface ProcessTokenKey {
  readonly sessionKey: string
  /** `sub` of the user: an application may put another one into the session. */
  readonly user: string
  /** Provider and client that issued the token. */
  readonly client: string
  readonly audience: string
  readonly scope: string
}

const toTokenKey = ({ audience, client, scope, user }: ProcessTokenKey): string =>
  toKey(user, client, audience, scope)

/** Returns the token that this process keeps for a session, unless it has expired. `now` is in seconds. */
export function processToken(key: ProcessTokenKey, now: number): AccessTokenSet | undefined {
  const tokenKey = toTokenKey(key)
  const token = getTokens(key.sessionKey).find((one) => one.key === tokenKey)?.token
  return token && token.expiresAt > now ? token : undefined
}

/** Keeps a token in place of an older one with this key, and drops expired ones. `now` is in seconds. */
export function keepProcessToken(key: ProcessTokenKey, token: AccessTokenSet, now: number): void {
  const tokenKey = toTokenKey(key)
  const others = getTokens(key.sessionKey).filter((one) => one.key !== tokenKey && one.token.expiresAt > now)
  sessions().set(key.sessionKey, [...others, { key: tokenKey, token }].slice(-MAX_TOKENS))
}

/** Drops the tokens of a session that has ended, or that another one has replaced. */
export function forgetProcessTokens(sessionKey: string): void {
  sessions().delete(sessionKey)
}

export function toClientName({ clientId, provider }: Config): string {
  return `${provider.url} ${clientId}`
}

/** Returns the key of the main access token. */
function mainTokenKey(config: Config, { data, sessionKey }: StoredSession): ProcessTokenKey {
  const { audience = '', requestedScope, scope = '' } = data.tokenSet
  return {
    sessionKey,
    user: data.user.sub,
    client: toClientName(config),
    audience,
    scope: requestedScope ?? scope,
  }
}

/** Keeps the main access token of a session whose cookies have no room for it. */
export function keepMainToken(config: Config, session: StoredSession): void {
  const { audience = '', idToken: _id, refreshToken: _refresh, ...token } = session.data.tokenSet
  keepProcessToken(mainTokenKey(config, session), { ...token, audience }, config.clock())
}

/** Returns the data of the session, with the main access token of `keepMainToken` if it lacks one. */
export function withMainToken(config: Config, session: StoredSession): SessionData {
  const { data } = session
  if (data.tokenSet.accessToken !== '') return data
  const kept = processToken(mainTokenKey(config, session), config.clock())
  if (!kept) return data
  const { audience: _asBefore, ...token } = kept
  return { ...data, tokenSet: { ...data.tokenSet, ...token } }
}
