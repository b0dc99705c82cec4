import { revocationRequest } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { call } from './call.ts'
import { hasAlias } from './metadata.ts'
import type { Provider } from './provider.ts'

export interface LogoutRequest {
  /** Sent byte for byte as `post_logout_redirect_uri`. */
  readonly returnTo: string
  /** The session's ID token, if it may be sent. */
  readonly idTokenHint?: string
  /** The provider's session id. */
  readonly logoutHint?: string
  readonly state?: string
  /** Also end the session at the upstream identity provider. */
  readonly federated: boolean
}

/**
 * Returns the URL that ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0), or `null` if the
 * provider advertises no usable endpoint. Throws `DiscoveryError`.
 */
export async function endSessionUrl(provider: Provider, request: LogoutRequest): Promise<URL | null> {
  const { config } = provider
  const { endSessionEndpoint } = await provider.metadata()
  if (endSessionEndpoint === undefined) return null
  const url = new URL(endSessionEndpoint)
  const parameters = {
    client_id: config.clientId,
    post_logout_redirect_uri: request.returnTo,
    state: request.state,
    logout_hint: request.logoutHint,
    id_token_hint: request.idTokenHint,
    [config.vendor.federatedLogoutParameter]: request.federated ? '' : undefined,
  }
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** Returns the logout URL of providers with a proprietary endpoint at the root of their origin. Needs no discovery. */
export function v2LogoutUrl(
  config: Pick<Config, 'clientId' | 'provider' | 'vendor'>,
  request: Pick<LogoutRequest, 'returnTo' | 'federated'>,
): URL {
  const url = new URL(config.vendor.logoutPath, config.provider.url)
  url.searchParams.set(config.vendor.logoutReturnToParameter, request.returnTo)
  url.searchParams.set('client_id', config.clientId)
  if (request.federated) url.searchParams.set(config.vendor.federatedLogoutParameter, '')
  return url
}

/**
 * Revokes a refresh token and the tokens issued for it (RFC 7009), with client authentication and without a DPoP proof.
 * Returns false if the provider supports no revocation. Throws `OAuthError` and `DiscoveryError`.
 */
export async function revokeToken(provider: Provider, refreshToken: string): Promise<boolean> {
  const metadata = await provider.metadata()
  const endpoint = 'revocationEndpoint'
  if (metadata[endpoint] === undefined && !hasAlias(metadata, endpoint, provider.config)) return false
  await call(
    { provider, metadata, endpoint },
    ({ authentication, client, options, server }) =>
      revocationRequest(server, client, authentication, refreshToken, {
        ...options,
        additionalParameters: { token_type_hint: 'refresh_token' },
      }),
    () => undefined,
  )
  return true
}
