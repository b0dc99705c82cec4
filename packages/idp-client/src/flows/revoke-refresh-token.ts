import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import { revokeToken } from '../oidc/end-session.ts'
import { getProvider } from '../oidc/provider.ts'
import { withoutRefreshToken } from '../tokens/apply.ts'

/**
 * Revokes the session's refresh token at the provider (RFC 7009) and removes it from the session, which stays valid
 * until it expires. Returns false, without a change, if the provider supports no revocation. Throws `AccessTokenError`
 * `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`, `FAILED_TO_REVOKE` (the session still has the token);
 * `SESSION_NOT_WRITABLE`, before anything is revoked.
 */
export async function revokeRefreshToken(engine: Engine, exchange: Exchange): Promise<boolean> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { refreshToken } = session.data.tokenSet
  if (!refreshToken) throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  let revoked: boolean
  try {
    revoked = await revokeToken(getProvider(engine.config), refreshToken)
  } catch (cause) {
    throw new AccessTokenError('FAILED_TO_REVOKE', { cause })
  }
  if (revoked) await engine.sessions.save(exchange, { ...session, data: withoutRefreshToken(session.data) })
  return revoked
}
