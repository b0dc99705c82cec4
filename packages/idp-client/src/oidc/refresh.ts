import { decodeJwt } from 'jose/jwt/decode'
import { refreshTokenGrant } from 'openid-client'
import type { JsonObject } from './json.ts'
import type { Provider } from './provider.ts'
import { requestTokens } from './token-endpoint.ts'
import type { TokenGrant } from './token-grant.ts'
import { grantOf } from './token-grant.ts'

export interface RefreshRequest {
  readonly refreshToken: string
  /** Sent only when given (RFC 6749 section 6). */
  readonly scope?: string
  /** API to get a token for; needs a refresh-token policy of the provider. */
  readonly audience?: string
  /** ID token of the session, which a refreshed one must agree with. */
  readonly idToken?: string
  /** `sub` of the session's user; an ID token for anybody else is refused. */
  readonly subject: string
}

function claimsOf(idToken: string): JsonObject | undefined {
  try {
    return decodeJwt(idToken)
  } catch {
    return undefined
  }
}

/**
 * Redeems a refresh token, once. The ID token of the answer, if any, must be one for the same user, issuer, client and
 * organization as that of the session (OpenID Connect Core 12.2), or the whole answer is refused. Throws `OAuthError` (`error`
 * `invalid_grant` is final, `transient` ones may pass later) and `DiscoveryError`.
 */
export async function refreshTokens(provider: Provider, request: RefreshRequest): Promise<TokenGrant> {
  const { audience, idToken, refreshToken, scope, subject } = request
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const parameters = {
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
  }
  const answer = await requestTokens({ provider, metadata }, (configuration, options) =>
    refreshTokenGrant(configuration, refreshToken, parameters, options),
  )
  const previous = idToken === undefined ? undefined : claimsOf(idToken)
  return grantOf(provider, answer, { subject, ...(previous ? { previous } : {}) }, now)
}
