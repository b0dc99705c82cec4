import { pushedAuthorizationRequest } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import { CallbackError } from '../errors/callback.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { OAuthError } from '../errors/provider.ts'
import { defined } from '../lib/objects.ts'
import { call } from './call.ts'
import { stringProperty } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import { hasAlias, requireEndpoint, wireNames } from './metadata.ts'
import type { Provider } from './provider.ts'
import { toRequestForm } from './request-form.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse, redirectUriSent } from './translate.ts'

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

/** Generates a PKCE verifier: 32 random bytes in base64url (RFC 7636 section 4.1). */
export function newCodeVerifier(): string {
  return randomToken(32)
}

/** Returns the PKCE challenge of a verifier by S256: its SHA-256 in base64url (RFC 7636 section 4.2). */
export async function toCodeChallenge(codeVerifier: string): Promise<string> {
  return hashToken(codeVerifier, 32)
}

/** Returns all parameters of the request, with the key that the code is bound to (RFC 9449 section 10) with `useDPoP`. */
async function toParameters(
  { config, dpop }: Provider,
  { codeVerifier, nonce, parameters, redirectUri, state }: AuthorizationRequest,
): Promise<Map<string, string>> {
  const handle = config.dpop.enabled ? await dpop.handle() : undefined
  const owned = defined({
    client_id: config.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: await toCodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    dpop_jkt: handle?.thumbprint,
  })
  const settable = [...parameters].filter(([name]) => mayConfigurationSet(name))
  return new Map([...settable, ...Object.entries(owned)])
}

function readRequestUri(response: ProviderResponse): string {
  const requestUri = stringProperty(response.body, 'request_uri')
  if (requestUri === undefined) throw invalidResponse('request_uri is missing.', response)
  return requestUri
}

function checkAdvertised(metadata: ServerMetadata, config: Config): void {
  const name = wireNames.parEndpoint
  const { parEndpoint, unusable } = metadata
  if (parEndpoint !== undefined || unusable.has(name) || hasAlias(metadata, 'parEndpoint', config)) return
  const detail = `pushedAuthorizationRequests is true, but the provider does not advertise ${name}.`
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'PAR_NOT_OFFERED' })
}

/** The parameters outside of a signed request at the authorization endpoint (RFC 9101 section 5, OpenID Connect Core section 6.1). */
const OUTSIDE = ['client_id', 'response_type', 'scope']

/**
 * Pushes the parameters of an authorization request to the provider (RFC 9126) and returns the `request_uri`. There is
 * no fallback to a plain request: throws `CallbackError` `AUTHORIZATION_REQUEST_ERROR` (`cause`: an `OAuthError`) on
 * failure, `InvalidConfigurationError` if the provider does not support it, `DiscoveryError`.
 */
async function pushAuthorizationRequest(
  provider: Provider,
  metadata: ServerMetadata,
  parameters: URLSearchParams,
): Promise<string> {
  checkAdvertised(metadata, provider.config)
  try {
    return await call(
      { provider, metadata, endpoint: 'parEndpoint' },
      async ({ authentication, client, options, server }) => {
        // The client is named by its authentication.
        const body = await toRequestForm(provider.config, metadata, 'authorization', parameters)
        return pushedAuthorizationRequest(server, client, authentication, body, options)
      },
      readRequestUri,
    )
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const sent = redirectUriSent(error, parameters.get('redirect_uri'))
    throw new CallbackError('AUTHORIZATION_REQUEST_ERROR', { cause: error, ...sent })
  }
}

/**
 * Returns the parameters of the authorization URL: after a pushed request only `client_id` and a reference
 * (`request_uri`; a configured one is never pushed).
 */
async function browserParameters(
  provider: Provider,
  metadata: ServerMetadata,
  parameters: Map<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const { clientId, pushedAuthorizationRequests, requestObject } = provider.config
  if (pushedAuthorizationRequests) {
    parameters.delete('request_uri')
    const pushed = new URLSearchParams([...parameters])
    const requestUri = await pushAuthorizationRequest(provider, metadata, pushed)
    return new Map(Object.entries({ client_id: clientId, request_uri: requestUri }))
  }
  if (!metadata.requirePar && requestObject) {
    const inside = new URLSearchParams([...parameters])
    const signed = await toRequestForm(provider.config, metadata, 'authorization', inside)
    return new Map([...[...parameters].filter(([name]) => OUTSIDE.includes(name)), ...signed])
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
  const metadata = await provider.metadata()
  if (metadata.requireRequestObject && !provider.config.requestObject) {
    const detail =
      'The provider accepts signed requests only (require_signed_request_object), and requestObject is not set.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', {
      detail,
      remedy: 'REQUEST_OBJECT_REQUIRED',
    })
  }
  const parameters = await toParameters(provider, request)
  return toUrl(metadata, await browserParameters(provider, metadata, parameters))
}
