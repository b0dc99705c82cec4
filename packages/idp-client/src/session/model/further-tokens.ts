import { fieldName } from '../../errors/session.ts'
import type { Log } from '../../log/log.ts'
import type { ConnectionTokenSet, SessionData, StoredAccessTokenSet } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'

/** An access token other than the main one. */
export type FurtherToken = StoredAccessTokenSet | ConnectionTokenSet

/** Maximum number of further access tokens and connection tokens, together, of one session in a store or in memory. */
const MAX_FURTHER_TOKENS = 100

const isOfConnection = (token: FurtherToken): token is ConnectionTokenSet => 'connection' in token

function toRank(token: FurtherToken, now: number): number {
  if (token.expiresAt <= now) return 0
  if (isOfConnection(token)) return 1
  return token.verified ? 3 : 2
}

/**
 * Returns the tokens that the session's refresh token can obtain again, in the order in which they are left out: expired
 * ones, those of connections, access tokens from the oldest to the newest, and last those of MFA verifications. Never the
 * new access token of the latest redemption.
 */
export function dispensableTokens(
  { data, newAccessToken }: StoredSession,
  now: number,
): readonly FurtherToken[] {
  if (!data.tokenSet.refreshToken) return []
  const further: FurtherToken[] = [...(data.connectionTokenSets ?? []), ...(data.accessTokens ?? [])]
  return further
    .filter(({ accessToken }) => accessToken !== newAccessToken)
    .sort((a, b) => toRank(a, now) - toRank(b, now))
}

/** Returns the name of a token in events. */
export function toLabel(token: FurtherToken): string {
  return isOfConnection(token)
    ? `connection ${fieldName(token.connection)}`
    : `audience ${fieldName(token.audience)}`
}

export function withoutTokens(session: StoredSession, leftOut: ReadonlySet<FurtherToken>): StoredSession {
  const { accessTokens, connectionTokenSets, ...rest } = session.data
  const kept = <T extends FurtherToken>(tokens: readonly T[] | undefined): T[] =>
    tokens?.filter((token) => !leftOut.has(token)) ?? []
  const [access, connections] = [kept(accessTokens), kept(connectionTokenSets)]
  const further = {
    ...(access.length > 0 ? { accessTokens: access } : {}),
    ...(connections.length > 0 ? { connectionTokenSets: connections } : {}),
  }
  return { ...session, data: { ...rest, ...further } as SessionData }
}

/**
 * Returns the session with at most `MAX_FURTHER_TOKENS` further tokens, for storages without a limit in bytes. Reports what
 * is left out.
 */
export function withFewerTokens(session: StoredSession, { log }: { readonly log: Log }): StoredSession {
  const { accessTokens, connectionTokenSets } = session.data
  const surplus = (accessTokens?.length ?? 0) + (connectionTokenSets?.length ?? 0) - MAX_FURTHER_TOKENS
  if (surplus <= 0) return session
  const leftOut = dispensableTokens(session, session.usedAt).slice(0, surplus)
  if (leftOut.length === 0) return session
  log.emit({
    level: 'info',
    code: 'SESSION_AT_LIMIT',
    leftOut: leftOut.map(toLabel),
    limit: MAX_FURTHER_TOKENS,
  })
  return withoutTokens(session, new Set(leftOut))
}

/** Returns the session without the access tokens of connections for which `isKept` is false. */
export function keepConnections(data: SessionData, isKept: (connection: string) => boolean): SessionData {
  const { connectionTokenSets, ...rest } = data
  const kept = connectionTokenSets?.filter(({ connection }) => isKept(connection)) ?? []
  return { ...rest, ...(kept.length > 0 ? { connectionTokenSets: kept } : {}) } as SessionData
}

/** Returns the session without the access tokens of one connection, or of all if it is unknown which one has changed. */
export function forgetConnection(data: SessionData, connection?: string): SessionData {
  return keepConnections(data, (each) => connection !== undefined && each !== connection)
}
