import { calculatePKCECodeChallenge, randomPKCECodeVerifier } from 'openid-client'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { endpointOf } from './metadata.ts'
import type { Provider } from './provider.ts'

export interface AuthorizationRequest {
  /** `scope`, `audience`, `max_age`, `prompt` and whatever else is to be sent; the protocol's own are ours to set. */
  readonly parameters: ReadonlyMap<string, string>
  /** Sent byte for byte. */
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Set by this library alone: dropped from a login query and from configured parameters. */
export const OWNED_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'nonce',
])

/** Decided by the application alone: dropped from a login query. */
export const CONFIGURED_ONLY_PARAMETERS: ReadonlySet<string> = new Set([
  'redirect_uri',
  'response_mode',
  'request',
  'request_uri',
  'dpop_jkt',
  'resource',
  'claims',
])

/** Whether configured `authorizationParameters` may set this one. All of `client_*` belongs to client authentication. */
export function mayConfigurationSet(name: string): boolean {
  return !OWNED_PARAMETERS.has(name) && !name.startsWith('client_')
}

/** Whether the query of the login route may set this one. */
export function mayVisitorSet(name: string): boolean {
  return mayConfigurationSet(name) && !CONFIGURED_ONLY_PARAMETERS.has(name)
}

/** A fresh PKCE verifier: 32 random bytes in base64url (RFC 7636 section 4.1). */
export function newCodeVerifier(): string {
  return randomPKCECodeVerifier()
}

/**
 * Where to send the browser for a login with the code flow and PKCE S256. The endpoint's own query is kept; a
 * parameter of ours replaces one of the same name. Throws `DiscoveryError`, and `InvalidConfigurationError` when the
 * provider demands pushed authorization requests (RFC 9126) and the option is off.
 */
export async function authorizationUrl(provider: Provider, request: AuthorizationRequest): Promise<URL> {
  const metadata = await provider.metadata()
  if (metadata.requirePar) {
    const detail =
      'The provider accepts pushed authorization requests only: set pushedAuthorizationRequests to true.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const url = new URL(endpointOf(metadata, 'authorizationEndpoint'))
  for (const [name, value] of request.parameters) {
    if (mayConfigurationSet(name)) url.searchParams.set(name, value)
  }
  const owned = {
    client_id: provider.config.clientId,
    redirect_uri: request.redirectUri,
    response_type: 'code',
    code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
    state: request.state,
    nonce: request.nonce,
  }
  for (const [name, value] of Object.entries(owned)) url.searchParams.set(name, value)
  return url
}
