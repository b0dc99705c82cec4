import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { User } from '../session/model/session-data.ts'

/** An access token of the session. */
interface Token {
  readonly token: string
  readonly token_type?: string
}

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
  getToken: (engine: Engine, exchange: Exchange) => MaybePromise<Token>,
): Promise<User> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { token, token_type } = await getToken(engine, exchange)
  const [{ fetchUserInfoClaims }, { getProvider }] = await Promise.all([
    import('../oidc/userinfo.ts'),
    import('../oidc/provider.ts'),
  ])
  return fetchUserInfoClaims(getProvider(engine.config), {
    accessToken: token,
    tokenType: token_type === 'DPoP' ? 'DPoP' : 'Bearer',
    subject: session.data.user.sub,
  })
}
