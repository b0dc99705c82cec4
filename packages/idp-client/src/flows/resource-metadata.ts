import type { ResourceConfig } from '../config/resource.ts'
import type { ApiEngine } from '../engine.ts'
import { getPublicProvider } from '../oidc/provider.ts'
import { supportedAlgorithms } from '../oidc/signed-token.ts'

/**
 * Returns the metadata of an API (RFC 9728 section 2): its URL, its provider, and how to send tokens. Nothing in it comes from the
 * request. Throws `DiscoveryError`.
 */
export async function describeResource(
  { config }: ApiEngine,
  { clientCertificate, metadata, scopes }: ResourceConfig,
): Promise<object> {
  const { issuer } = await getPublicProvider(config).metadata()
  return {
    resource: metadata?.resource,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: supportedAlgorithms,
    // Absent, it means that no client may use such tokens.
    tls_client_certificate_bound_access_tokens: clientCertificate ? true : undefined,
  }
}
