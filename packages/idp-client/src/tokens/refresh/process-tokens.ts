import type { Config } from '../../config/config.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, toKey } from '../../lib/registry.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Entry } from '../select.ts'
import { storedEntry } from '../select.ts'
import type { TokenRequest } from '../token-request.ts'

/*
 * Selects the token of a session for a request: one of the session, or one that only this process has. Those are access tokens that only
 * the library uses, and main access tokens that did not fit into the cookies.
 */

/** Maximum number of sessions with such tokens; above it those of the one that is used least are dropped. */
const MAX_TOKEN_SESSIONS = 1000
/** Maximum number of tokens of one session; above it the oldest is dropped. */
const MAX_PROCESS_TOKENS = 100

interface ProcessToken {
  readonly key: string
  readonly token: Entry
}

/** By session key. A list, since the tokens of a session end together. */
const processTokens = (): Lru<string, readonly ProcessToken[]> =>
  processWide('state:process-tokens/3', () => new Lru(MAX_TOKEN_SESSIONS))

type Kind = Pick<TokenRequest, 'audience' | 'scope'>

/** The key has the user, because an application may replace `user` in a session. */
const toTokenKey = (
  { clientId, provider }: Config,
  { user }: SessionData,
  { audience, scope }: Kind,
): string => toKey(user.sub, `${provider.url} ${clientId}`, audience, scope)

/** Keeps a token in place of an older one of its kind. */
export function keepProcessToken(
  config: Config,
  { data, sessionKey }: StoredSession,
  kind: Kind,
  token: Entry,
): void {
  const key = toTokenKey(config, data, kind)
  const others = (processTokens().get(sessionKey) ?? []).filter((one) => one.key !== key)
  processTokens().set(sessionKey, [...others, { key, token }].slice(-MAX_PROCESS_TOKENS))
}

/** Drops the tokens of a session that has ended, or that another one has replaced. */
export function forgetProcessTokens(sessionKey: string): void {
  processTokens().delete(sessionKey)
}

function findProcessToken(
  config: Config,
  { data, sessionKey }: StoredSession,
  kind: Kind,
): Entry | undefined {
  const tokens = processTokens().get(sessionKey)
  const key = tokens && toTokenKey(config, data, kind)
  const token = tokens?.find((one) => one.key === key)?.token
  return token && token.expiresAt > config.clock() ? token : undefined
}

const mainKind = ({ tokenSet: { audience = '', requestedScope, scope = '' } }: SessionData): Kind => ({
  audience,
  scope: requestedScope ?? scope,
})

/** Keeps the main access token of a session whose cookies have no room for it. */
export function keepMainToken(config: Config, session: StoredSession): void {
  const { idToken: _id, refreshToken: _refresh, ...token } = session.data.tokenSet
  keepProcessToken(config, session, mainKind(session.data), token)
}

/** Returns the data of the session, with the main access token of `keepMainToken` if it lacks one. */
export function withMainToken(config: Config, session: StoredSession): SessionData {
  const { data } = session
  if (data.tokenSet.accessToken !== '') return data
  const kept = findProcessToken(config, session, mainKind(data))
  return kept ? { ...data, tokenSet: { ...data.tokenSet, ...kept } } : data
}

/** Returns the token of the session, or of this process for it, that a token request gets, valid or expired. */
export function findToken(config: Config, session: StoredSession, want: TokenRequest): Entry | undefined {
  const data = withMainToken(config, session)
  const kept = want.processOnly && findProcessToken(config, session, want)
  const further = kept && [...(data.accessTokens ?? []), { audience: '', ...kept }]
  return storedEntry(config.authorization, further ? { ...data, accessTokens: further } : data, want)
}

/** The token of a session before a refresh, and whether it can be returned without one. */
export interface Selection {
  /** Valid or expired. */
  readonly stored: Entry | undefined
  /** The same, to return as it is. */
  readonly usable?: Entry
  /** The same, which is still valid: returned if there is no refresh, or if it fails. */
  readonly fallback?: Entry
}

/**
 * Returns the token of the session, or of this process for it: usable until `buffer` seconds before its end, without a refresh token
 * until its end. A forced refresh never returns it.
 */
export function selectToken(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  buffer: number,
): Selection {
  const stored = findToken(config, session, want)
  const now = config.clock()
  // Also without an end, which a hook or an update may have removed.
  if (want.force || !stored || !(stored.expiresAt > now)) return { stored }
  const isUsable = stored.expiresAt > now + buffer || !session.data.tokenSet.refreshToken
  return isUsable ? { stored, usable: stored } : { stored, fallback: stored }
}
