import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { getProvider } from '../oidc/provider.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import type { User } from '../session/model/session-data.ts'

/**
 * Returns the current claims of the session's user from the UserInfo endpoint (OpenID Connect Core section 5.3):
 * 1. throws `AccessTokenError` `MISSING_SESSION` without a session;
 * 2. gets the session's access token from `getToken`, refreshed if necessary;
 * 3. checks that the claims are about the user of the session.
 *
 * Throws errors of `getToken`, `OAuthError` (`status` 401: the endpoint does not accept tokens of this audience) and
 * `DiscoveryError`. Does not change the session.
 */
export async function getUserInfo(
  engine: Engine,
  exchange: Exchange,
  getToken: (engine: Engine, exchange: Exchange) => MaybePromise<{ token: string; token_type?: string }>,
): Promise<User> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { token, token_type } = await getToken(engine, exchange)
  return fetchUserInfoClaims(getProvider(engine.config), {
    accessToken: token,
    tokenType: token_type === 'DPoP' ? 'DPoP' : 'Bearer',
    subject: session.data.user.sub,
  })
}
