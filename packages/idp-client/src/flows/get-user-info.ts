import type { Engine } from '../engine.ts'
import { OAuthError } from '../errors/provider.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import { getProvider } from '../oidc/provider.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import { provenSubject } from '../session/model/authentication.ts'
import type { User } from '../session/model/session-data.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import type { TokenSource } from '../tokens/token-request.ts'

/** Returns whether the endpoint takes another token only (RFC 6750 section 3.1). */
function refusesToken(thrown: unknown): boolean {
  return thrown instanceof OAuthError && thrown.providerStatus === 401 && thrown.error === 'invalid_token'
}

/**
 * Returns the current claims of the session's user from the UserInfo endpoint (OpenID Connect Core section 5.3):
 * 1. throws `AccessTokenError` `MISSING_SESSION` without a session;
 * 2. gets the session's access token from `getToken`, refreshed if necessary;
 * 3. checks that the claims are about the user of the session.
 *
 * With `certificateBoundAccessTokens` a token that the endpoint refuses as invalid is replaced once, as in fetchers: after a rotation
 * it is bound to the former certificate.
 *
 * Throws errors of `getToken`, `OAuthError` (`status` 401: the endpoint does not accept tokens of this audience) and
 * `DiscoveryError`. Does not change the session.
 */
export async function getUserInfo(engine: Engine, exchange: Exchange, getToken: TokenSource): Promise<User> {
  const { config, sessions } = engine
  const session = await sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const request = async ({ token, token_type }: SessionToken): Promise<User> =>
    fetchUserInfoClaims(getProvider(config), {
      accessToken: token,
      tokenType: token_type === 'DPoP' ? 'DPoP' : 'Bearer',
      subject: provenSubject(session),
    })
  const access = await getToken({})
  try {
    return await request(access)
  } catch (thrown) {
    if (!config.mutualTls?.boundTokens || !refusesToken(thrown)) throw thrown
    const { tryReplacement } = await import('../tokens/replacement.ts')
    const next = await tryReplacement(engine, session, { token: access.token, want: {} }, getToken)
    if (!next) throw thrown
    return request(next)
  }
}
