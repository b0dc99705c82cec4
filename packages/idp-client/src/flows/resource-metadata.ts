import type { ApiEngine } from '../engine.ts'
import { getPublicProvider } from '../oidc/provider.ts'
import { supportedAlgorithms } from '../oidc/signed-token.ts'

/** Returns what the metadata of an API says about its provider, and about proofs. Throws `DiscoveryError`. */
export async function issuerAndAlgorithms({
  config,
}: ApiEngine): Promise<{ readonly issuer: string; readonly algorithms: readonly string[] }> {
  const { issuer } = await getPublicProvider(config).metadata()
  return { issuer, algorithms: supportedAlgorithms }
}
