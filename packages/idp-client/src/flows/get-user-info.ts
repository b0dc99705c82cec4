import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { User } from '../session/model/session-data.ts'

/** An access token of the session as the flow that gets one returns it. */
interface Token {
  readonly token: string
  readonly token_type?: string
}

/**
 * The claims that the provider's UserInfo endpoint has about the user of the session, fresh at each call:
 * 1. no session: `AccessTokenError` `MISSING_SESSION`;
 * 2. `accessTokenOf` gets the session's access token, refreshed if need be;
 * 3. the claims must be about the user of the session.
 * Throws what `accessTokenOf` throws, `OAuthError` (its `status` 401: the provider takes no token for this audience
 * there) and `DiscoveryError`. Writes nothing of the claims to the session.
 */
export async function getUserInfo(
  engine: Engine,
  exchange: Exchange,
  accessTokenOf: (engine: Engine, exchange: Exchange) => Promise<Token>,
): Promise<User> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { token, token_type } = await accessTokenOf(engine, exchange)
  const [{ fetchUserInfoClaims }, { getProvider: providerFor }] = await Promise.all([
    import('../oidc/userinfo.ts'),
    import('../oidc/provider.ts'),
  ])
  return fetchUserInfoClaims(providerFor(engine.config), {
    accessToken: token,
    tokenType: token_type === 'DPoP' ? 'DPoP' : 'Bearer',
    subject: session.data.user.sub,
  })
}
