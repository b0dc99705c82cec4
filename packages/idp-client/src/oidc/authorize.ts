import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { ServerMetadata } from './metadata.ts'
import { requireEndpoint } from './metadata.ts'
import { pushAuthorizationRequest } from './par.ts'
import { toCodeChallenge } from './pkce.ts'
import type { Provider } from './provider.ts'

export interface AuthorizationRequest {
  /** `scope`, `audience`, `max_age`, `prompt` and further parameters; those that the protocol sets are ignored. */
  readonly parameters: ReadonlyMap<string, string>
  /** Sent byte for byte. */
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Parameters that only this library sets: dropped from login queries and configured parameters. */
export const OWNED_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'nonce',
])

/** Parameters that only the application sets: dropped from login queries. */
export const CONFIGURED_ONLY_PARAMETERS: ReadonlySet<string> = new Set([
  'redirect_uri',
  'response_mode',
  'request',
  'request_uri',
  'dpop_jkt',
  'resource',
  'claims',
  'authorization_details',
  'registration',
  'id_token_hint',
  'target_link_uri',
])

/**
 * Returns whether configured `authorizationParameters` may set this one. `client_*` belongs to client authentication.
 */
export function mayConfigurationSet(name: string): boolean {
  return !OWNED_PARAMETERS.has(name) && !name.startsWith('client_')
}

/** Returns whether the query of the login route may set this parameter. */
export function mayQuerySet(name: string): boolean {
  return mayConfigurationSet(name) && !CONFIGURED_ONLY_PARAMETERS.has(name)
}

/** Returns the thumbprint of the key that the code is bound to (RFC 9449 section 10), or `undefined` without `useDPoP`. */
async function loadThumbprint({ dpop }: Provider): Promise<string | undefined> {
  return (await dpop()).thumbprint()
}

function toParameters(
  provider: Provider,
  { codeVerifier, nonce, parameters, redirectUri, state }: AuthorizationRequest,
): MaybePromise<Map<string, string>> {
  const { config } = provider
  return chain(config.dpop.enabled ? loadThumbprint(provider) : undefined, (thumbprint) =>
    chain(toCodeChallenge(codeVerifier), (challenge) => {
      const owned = {
        client_id: config.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(thumbprint === undefined ? {} : { dpop_jkt: thumbprint }),
      }
      const settable = [...parameters].filter(([name]) => mayConfigurationSet(name))
      return new Map([...settable, ...Object.entries(owned)])
    }),
  )
}

/**
 * Returns the parameters of the authorization URL: after a pushed request only `client_id` and a reference
 * (`request_uri`; a configured one is never pushed).
 */
function browserParameters(
  provider: Provider,
  metadata: ServerMetadata,
  parameters: Map<string, string>,
): MaybePromise<ReadonlyMap<string, string>> {
  const { clientId, pushedAuthorizationRequests } = provider.config
  if (pushedAuthorizationRequests) {
    parameters.delete('request_uri')
    const pushed = new URLSearchParams([...parameters])
    return pushAuthorizationRequest(provider, metadata, pushed).then(
      (requestUri) =>
        new Map([
          ['client_id', clientId],
          ['request_uri', requestUri],
        ]),
    )
  }
  if (!metadata.requirePar) return parameters
  const detail =
    'The provider accepts pushed authorization requests only, and pushedAuthorizationRequests is off.'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'PAR_REQUIRED' })
}

/**
 * Returns the authorization endpoint with these parameters, which replace those of its own query. The query is built at once:
 * `URLSearchParams.set` compares a name with all before it, and `URL.searchParams` would serialize the URL each time.
 */
function toUrl(metadata: ServerMetadata, parameters: ReadonlyMap<string, string>): URL {
  // An endpoint has no fragment, but may end with the character that begins one.
  const endpoint = requireEndpoint(metadata, 'authorizationEndpoint').replace(/#$/, '')
  const [address, ...ownQuery] = endpoint.split('?')
  const own = [...new URLSearchParams(ownQuery.join('?'))].filter(([name]) => !parameters.has(name))
  return new URL(`${address}?${new URLSearchParams([...own, ...parameters])}`)
}

/**
 * Returns the authorization URL for the code flow with PKCE S256. The request is pushed first with the option
 * `pushedAuthorizationRequests`, and bound to the DPoP key with `useDPoP`. The endpoint's own query is preserved,
 * except parameters that are set here. Throws `DiscoveryError`, `CallbackError` `AUTHORIZATION_REQUEST_ERROR`, and
 * `InvalidConfigurationError` if the provider requires or lacks pushed requests contrary to the option, or keys are
 * unusable.
 */
export async function authorizationUrl(provider: Provider, request: AuthorizationRequest): Promise<URL> {
  return chain(provider.metadata(), (metadata) => {
    requireEndpoint(metadata, 'authorizationEndpoint')
    return chain(toParameters(provider, request), (parameters) =>
      chain(browserParameters(provider, metadata, parameters), (sent) => toUrl(metadata, sent)),
    )
  })
}
