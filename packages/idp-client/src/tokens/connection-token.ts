import { isIdpError } from '../errors/base.ts'
import { isInvalidGrant } from '../errors/provider.ts'
import { AccessTokenForConnectionError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { toKey } from '../lib/registry.ts'
import type { ConnectionTokenSet, SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { Refreshed } from './apply.ts'
import type { Progress, RedemptionParts } from './refresh/coordinator.ts'
import { redeemOnce } from './refresh/coordinator.ts'
import { deadSince } from './refresh/ended.ts'
import type { RedemptionResult } from './refresh/state.ts'

/** A connection and, if the user has several accounts there, one of them. */
export interface ConnectionRequest {
  readonly connection: string
  readonly loginHint?: string
}

export interface ConnectionTokenParts extends RedemptionParts {
  /** Sends the token exchange; passed in by the flow. */
  readonly exchangeToken: (
    session: StoredSession,
    refreshToken: string,
    progress: Pick<Progress, 'onRequest' | 'onResponse'>,
  ) => Promise<Refreshed>
}

function findStored(
  { connectionTokenSets }: SessionData,
  want: ConnectionRequest,
): ConnectionTokenSet | undefined {
  return connectionTokenSets?.find(
    ({ connection, loginHint }) => connection === want.connection && loginHint === want.loginHint,
  )
}

/** Returns the stored token of a connection if it is valid. Without a hint, never a token that was requested with one. */
export function storedConnectionToken(
  data: SessionData,
  want: ConnectionRequest,
  now: number,
): ConnectionTokenSet | undefined {
  const entry = findStored(data, want)
  return entry && entry.expiresAt > now ? entry : undefined
}

function withConnection(data: SessionData, want: ConnectionRequest, entry?: ConnectionTokenSet): SessionData {
  const old = findStored(data, want)
  const others = (data.connectionTokenSets ?? []).filter((other) => other !== old)
  const { connectionTokenSets: _replaced, ...rest } = data
  const all = entry ? [...others, entry] : others
  return { ...rest, ...(all.length > 0 ? { connectionTokenSets: all } : {}) } as SessionData
}

async function redeem(
  parts: ConnectionTokenParts,
  want: ConnectionRequest,
  session: StoredSession,
  send: () => Promise<Refreshed>,
): Promise<RedemptionResult> {
  const { data } = session
  try {
    const grant = await send()
    const { accessToken, expiresAt, scope } = grant
    const entry: ConnectionTokenSet = defined({ accessToken, expiresAt, ...want, scope })
    const rotated = grant.refreshToken
    const tokenSet = rotated === undefined ? data.tokenSet : { ...data.tokenSet, refreshToken: rotated }
    const after = withConnection({ ...data, tokenSet }, want, entry)
    return { session: { ...session, data: after, newAccessToken: entry.accessToken } }
  } catch (failure) {
    // With cookies nothing is written: another process may have redeemed the refresh token first.
    if (isInvalidGrant(failure) && !parts.sessions.distributed) throw failure
    if (!isInvalidGrant(failure) && !findStored(data, want)) throw failure
    // Removes the connection's token: it may be disconnected. Keeps the refresh token; the next refresh shows whether
    // it is still valid.
    return { session: { ...session, data: withConnection(data, want) }, failure }
  }
}

/**
 * Returns a valid access token of a connection: the stored one, or a new one from a token exchange that concurrent calls share.
 * Throws `AccessTokenForConnectionError` `MISSING_REFRESH_TOKEN`, `FAILED_TO_EXCHANGE_REFRESH_TOKEN`.
 */
export async function getFreshConnectionToken(
  parts: ConnectionTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: ConnectionRequest,
): Promise<ConnectionTokenSet> {
  const { clock } = parts.config
  const stored = storedConnectionToken(session.data, want, clock())
  if (stored) return stored
  const { refreshToken } = session.data.tokenSet
  const isDead = (await deadSince(parts, session.data)) !== undefined
  if (refreshToken === undefined || isDead) throw new AccessTokenForConnectionError('MISSING_REFRESH_TOKEN')
  try {
    const { failure, session: after } = await redeemOnce(parts, exchange, {
      session,
      refreshToken,
      key: toKey('connection', want.connection, want.loginHint),
      isSatisfiedBy: (latest) => storedConnectionToken(latest.data, want, clock()) !== undefined,
      redeem: (latest, token, { onRequest, onResponse }) =>
        redeem(parts, want, latest, () => parts.exchangeToken(latest, token, { onRequest, onResponse })),
    })
    const found = storedConnectionToken(after.data, want, clock())
    if (found) return found
    // Another request has removed the refresh token while this one waited.
    if (after.data.tokenSet.refreshToken === undefined)
      throw new AccessTokenForConnectionError('MISSING_REFRESH_TOKEN')
    throw new AccessTokenForConnectionError('FAILED_TO_EXCHANGE_REFRESH_TOKEN', { cause: failure })
  } catch (cause) {
    if (cause instanceof AccessTokenForConnectionError || isIdpError(cause, 'SESSION_STORE_FAILED'))
      throw cause
    if (isIdpError(cause, 'MISSING_SESSION') || isIdpError(cause, 'SESSION_EXPIRED'))
      throw new AccessTokenForConnectionError('MISSING_SESSION')
    throw new AccessTokenForConnectionError('FAILED_TO_EXCHANGE_REFRESH_TOKEN', { cause })
  }
}
