import { defined } from '../../lib/objects.ts'
import type { Provider } from '../provider.ts'
import type { RequestProgress, TokenGrant } from '../token-endpoint.ts'
import { requestTokens, validateTokenGrant, withProgress } from '../token-endpoint.ts'

export interface ConnectionRequest extends RequestProgress {
  /** Name of the upstream identity provider at the provider. */
  readonly connection: string
  /** Refresh or access token of the user. */
  readonly subjectToken: string
  /** URN of the type of `subjectToken` (RFC 8693 section 3). */
  readonly subjectTokenType: string
  /** Selects one of several accounts at the connection. */
  readonly loginHint?: string
}

/**
 * Requests the access token of a user's account at an upstream identity provider, with a vendor-specific grant. Type
 * and lifetime are those of the upstream provider: it is never bound to this client's DPoP key. Throws `OAuthError` and
 * `DiscoveryError`.
 */
export async function requestConnectionToken(
  provider: Provider,
  request: ConnectionRequest,
): Promise<TokenGrant> {
  const { config } = provider
  const { connection, loginHint, subjectToken, subjectTokenType } = request
  const metadata = await provider.metadata()
  const now = config.clock()
  const parameters = defined({
    connection,
    subject_token: subjectToken,
    subject_token_type: subjectTokenType,
    requested_token_type: config.vendor.connectionTokenType,
    login_hint: loginHint,
  })
  const grantType = config.vendor.connectionTokenGrantType
  const target = { provider: withProgress(provider, request), metadata, upstream: true }
  const response = await requestTokens(target, grantType, parameters)
  return validateTokenGrant(provider, response, {}, now)
}
