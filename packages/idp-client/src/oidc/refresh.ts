import { refreshTokenGrant } from 'openid-client'
import { OAuthError } from '../errors/provider.ts'
import type { TokenGrant } from './grants.ts'
import { grantOf } from './grants.ts'
import type { Provider } from './provider.ts'
import { requestTokens } from './token-endpoint.ts'

export interface RefreshRequest {
  readonly refreshToken: string
  /** `sub` of the session's user; an ID token for anybody else is refused. */
  readonly subject: string
  /** Sent only when given (RFC 6749 section 6). */
  readonly scope?: string
  /** API to get a token for; needs a refresh-token policy of the provider. */
  readonly audience?: string
}

/**
 * Redeems a refresh token, once. The ID token of the answer, if any, must be one for the same user at the same issuer
 * and client (OpenID Connect Core 12.2), or the whole answer is refused. Throws `OAuthError` and `DiscoveryError`.
 */
export async function refreshTokens(provider: Provider, request: RefreshRequest): Promise<TokenGrant> {
  const { audience, refreshToken, scope, subject } = request
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const parameters = {
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
  }
  const answer = await requestTokens({ provider, metadata }, (configuration) =>
    refreshTokenGrant(configuration, refreshToken, parameters),
  )
  const grant = await grantOf(provider, answer, {}, now)
  if (grant.claims && grant.claims.sub !== subject) {
    throw new OAuthError('ID_TOKEN_INVALID', { detail: 'sub is not the user of the session.' })
  }
  return grant
}
