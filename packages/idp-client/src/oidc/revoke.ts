import { revocationRequest } from 'oauth4webapi'
import { call } from './call.ts'
import type { Provider } from './provider.ts'

/**
 * Revokes a refresh token and the tokens issued for it (RFC 7009), with client authentication and without a DPoP proof.
 * Returns false if the provider supports no revocation. Throws `OAuthError` and `DiscoveryError`.
 */
export async function revokeToken(provider: Provider, refreshToken: string): Promise<boolean> {
  const metadata = await provider.metadata()
  if (metadata.revocationEndpoint === undefined) return false
  await call(
    { provider, metadata, endpoint: 'revocationEndpoint' },
    ({ authentication, client, options, server }) =>
      revocationRequest(server, client, authentication, refreshToken, {
        ...options,
        additionalParameters: { token_type_hint: 'refresh_token' },
      }),
    () => undefined,
  )
  return true
}
