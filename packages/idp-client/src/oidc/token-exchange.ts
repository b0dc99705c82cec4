import { defined } from '../lib/defined.ts'
import type { Provider } from './provider.ts'
import type { TokenGrant } from './token-endpoint.ts'
import { requestTokens, validateTokenGrant } from './token-endpoint.ts'

/** Parameters that only the library sets. */
const OWNED: ReadonlySet<string> = new Set([
  'grant_type',
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
  'audience',
  'organization',
  'scope',
])

/** Returns whether a caller may add this parameter to a token exchange. `client_*` belongs to client authentication. */
export function mayExchangeSet(name: string): boolean {
  return !OWNED.has(name) && !name.startsWith('client_')
}

/** Names and values as sent; names may repeat (`resource`). */
export type ExchangeParameters = readonly (readonly [string, string])[]

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/**
 * Exchanges a token (RFC 8693); a missing `issued_token_type` is tolerated. An ID token in the response is validated.
 * `expiresIn` is the lifetime of the access token in seconds from now. Throws `OAuthError` and `DiscoveryError`.
 */
export async function exchangeTokens(
  provider: Provider,
  parameters: ExchangeParameters,
): Promise<TokenGrant & { readonly expiresIn: number }> {
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const form = new URLSearchParams(parameters.map(([name, value]) => [name, value]))
  const response = await requestTokens({ provider, metadata }, GRANT_TYPE, form)
  const organization = new Map(parameters).get('organization')
  const grant = await validateTokenGrant(provider, response, defined({ organization }), now)
  return { ...grant, expiresIn: grant.expiresAt - now }
}
