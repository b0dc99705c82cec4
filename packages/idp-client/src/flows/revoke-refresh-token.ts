import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import { toKey } from '../lib/registry.ts'
import { revokeToken } from '../oidc/end-session.ts'
import { getProvider } from '../oidc/provider.ts'
import { withProgress } from '../oidc/token-endpoint.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withoutRefreshToken } from '../tokens/apply.ts'
import { redeemOnce } from '../tokens/refresh/coordinator.ts'
import type { RedemptionResult } from '../tokens/refresh/state.ts'

interface Revocation extends RedemptionResult {
  readonly isRevoked?: true
}

const REPLACED = 'Another process has replaced the refresh token meanwhile.'

/**
 * Revokes the refresh token after the running redemptions: one of them may replace it, and a session that continues with the
 * successor would undo the revocation.
 */
async function revokeInTurn(
  engine: Engine,
  exchange: Exchange,
  session: StoredSession,
  refreshToken: string,
): Promise<Revocation> {
  const provider = getProvider(engine.config)
  return redeemOnce(engine, exchange, {
    session,
    refreshToken,
    key: toKey('revoke'),
    isSatisfiedBy: () => false,
    async redeem(latest, token, { onRequest, onResponse }): Promise<Revocation> {
      if (!(await revokeToken(withProgress(provider, { onRequest, onResponse }), token)))
        return { session: latest }
      return { session: { ...latest, data: withoutRefreshToken(latest.data) }, isRevoked: true }
    },
  })
}

function toRevocationError(cause: unknown): Error {
  if (isIdpError(cause, 'MISSING_SESSION') || isIdpError(cause, 'SESSION_EXPIRED'))
    return new AccessTokenError('MISSING_SESSION')
  if (isIdpError(cause, 'SESSION_STORE_FAILED')) return cause
  return new AccessTokenError('FAILED_TO_REVOKE', { cause })
}

/**
 * Revokes the session's refresh token at the provider (RFC 7009) and removes it from the session, which stays valid
 * until it expires. Waits for a running refresh, and revokes the token that it brings. Returns false, without a change, if the
 * provider supports no revocation. A change that the store rejects is kept in this process and written later. Throws
 * `AccessTokenError` `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`, `FAILED_TO_REVOKE` (the session still has a token);
 * `SESSION_NOT_WRITABLE`, before anything is revoked; `SESSION_STORE_FAILED`.
 */
export async function revokeRefreshToken(engine: Engine, exchange: Exchange): Promise<boolean> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { refreshToken } = session.data.tokenSet
  if (!refreshToken) throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  let revocation: Revocation
  try {
    revocation = await revokeInTurn(engine, exchange, session, refreshToken)
  } catch (cause) {
    throw toRevocationError(cause)
  }
  const { isRevoked = false, session: after } = revocation
  const isGone = after.data.tokenSet.refreshToken === undefined
  // Only where the store cannot lock.
  if (isRevoked && !isGone) throw new AccessTokenError('FAILED_TO_REVOKE', { detail: REPLACED })
  // Another request has removed it while this one waited.
  if (!isRevoked && isGone) throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  return isRevoked
}
