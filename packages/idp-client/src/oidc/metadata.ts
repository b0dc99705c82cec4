import type { Config, ProviderAddress } from '../config/config.ts'
import { DiscoveryError } from '../errors/provider.ts'
import { defined, isAbsent, isObject } from '../lib/objects.ts'
import { parseUrl } from '../lib/url.ts'
import type { JsonObject } from './json.ts'
import { stringList } from './json.ts'
import { isSupportedAlgorithm } from './signed-token.ts'

/** Validated metadata of the provider, as far as this client uses it (OpenID Connect Discovery 1.0 section 3). */
export interface ServerMetadata extends Endpoints, Lists {
  /** Exactly one of the configured issuers. */
  readonly issuer: string
  /** `require_pushed_authorization_requests` (RFC 9126). */
  readonly requirePar: boolean
  /** Whether the callback must contain `iss` (RFC 9207). */
  readonly issuerInCallback: boolean
  /** Accepted signature algorithms of ID tokens; never `none` or a symmetric one. */
  readonly idTokenAlgorithms: readonly string[]
  /** `require_signed_request_object` (RFC 9101 section 10.5). */
  readonly requireRequestObject?: boolean
  /** `mtls_endpoint_aliases` as received: only a client that presents a certificate reads them (`requireAlias`). */
  readonly mutualTlsAliases?: unknown
  /** Advertised endpoints that must not be used, by wire name, with the reason. */
  readonly unusable: ReadonlyMap<string, string>
}

const endpoints = {
  authorizationEndpoint: 'authorization_endpoint',
  tokenEndpoint: 'token_endpoint',
  jwksUri: 'jwks_uri',
  endSessionEndpoint: 'end_session_endpoint',
  revocationEndpoint: 'revocation_endpoint',
  introspectionEndpoint: 'introspection_endpoint',
  userinfoEndpoint: 'userinfo_endpoint',
  parEndpoint: 'pushed_authorization_request_endpoint',
  backchannelAuthenticationEndpoint: 'backchannel_authentication_endpoint',
} as const

export type EndpointName = keyof typeof endpoints

/** Lists of names, absent if not advertised. */
const lists = {
  scopes: 'scopes_supported',
  clientAuthMethods: 'token_endpoint_auth_methods_supported',
  introspectionAuthMethods: 'introspection_endpoint_auth_methods_supported',
  revocationAuthMethods: 'revocation_endpoint_auth_methods_supported',
  clientAuthAlgorithms: 'token_endpoint_auth_signing_alg_values_supported',
  requestObjectAlgorithms: 'request_object_signing_alg_values_supported',
  backchannelRequestAlgorithms: 'backchannel_authentication_request_signing_alg_values_supported',
} as const

type Lists = { readonly [Name in keyof typeof lists]?: readonly string[] }

/** The metadata properties of endpoints and lists. */
export const wireNames: Readonly<Record<EndpointName | keyof typeof lists, string>> = {
  ...endpoints,
  ...lists,
}

export function mayRequest(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (allowInsecureRequests && url.protocol === 'http:')
}

/** Returns why a URL of the provider must not be used, or `null` if it may. */
export function unusableReason(value: unknown, allowInsecureRequests: boolean): string | null {
  const url = typeof value === 'string' ? parseUrl(value) : null
  if (!url) return 'is not an absolute URL'
  if (!mayRequest(url, allowInsecureRequests)) return 'is not https'
  if (url.username !== '' || url.password !== '') return 'contains credentials'
  return url.hash === '' ? null : 'has a fragment'
}

type Endpoints = { readonly [Name in EndpointName]?: string }

function readEndpoints(document: JsonObject, allowInsecureRequests: boolean) {
  const usable: { [Name in EndpointName]?: string } = {}
  const unusable = new Map<string, string>()
  for (const [name, wireName] of Object.entries(endpoints) as [EndpointName, string][]) {
    const value = document[wireName]
    if (isAbsent(value)) continue
    const reason = unusableReason(value, allowInsecureRequests)
    if (reason === null) usable[name] = String(value)
    else unusable.set(wireName, reason)
  }
  return { ...usable, unusable }
}

function readLists(document: JsonObject): Lists {
  const all = Object.entries(lists).map(([name, wireName]) => [name, stringList(document, wireName)] as const)
  return defined(Object.fromEntries(all))
}

function idTokenAlgorithms(document: JsonObject): readonly string[] {
  const advertised = stringList(document, 'id_token_signing_alg_values_supported')
  return advertised ? advertised.filter(isSupportedAlgorithm) : ['RS256']
}

/** Returns the URL of the discovery document (OpenID Connect Discovery 1.0 section 4). */
export function discoveryUrl({ url }: ProviderAddress): string {
  return `${url}/.well-known/openid-configuration`
}

/** Describes how two URLs differ without quoting the provider's issuer, which is untrusted. */
function describeDifference(issuer: unknown, { issuers, url: configured }: ProviderAddress): string {
  const theirs = typeof issuer === 'string' ? parseUrl(issuer) : null
  if (!theirs) return 'is missing or not a URL'
  const ours = new URL(configured)
  const trimmed = ({ pathname }: URL): string => pathname.replace(/\/$/, '')
  const parts = [
    theirs.protocol !== ours.protocol && 'scheme',
    theirs.hostname !== ours.hostname && 'host',
    theirs.port !== ours.port && 'port',
    trimmed(theirs) !== trimmed(ours) && 'path',
  ].filter(Boolean)
  if (parts.length > 0) return `differs in ${parts.join(', ')}`
  const isSlash = issuers.some((known) => known.replace(/\/$/, '') === String(issuer).replace(/\/$/, ''))
  return isSlash ? 'differs in the trailing slash' : 'has upper case or a default port that domain lacks'
}

function otherIssuer(issuer: unknown, address: ProviderAddress): DiscoveryError {
  const url = discoveryUrl(address)
  const difference = describeDifference(issuer, address)
  const detail = `Requested: ${url}. The issuer in the document does not equal the option domain (IDP_DOMAIN): it ${difference}.`
  const remedy = 'DISCOVERY_ISSUER_MISMATCH'
  return new DiscoveryError('DISCOVERY_ERROR', { detail, remedy, endpoint: 'discovery', url })
}

/**
 * Reads a discovery document. Throws `DiscoveryError` if its issuer is not exactly a configured one; missing or
 * unusable properties only matter when an operation needs them (`requireEndpoint`).
 */
export function readMetadata(
  document: JsonObject,
  config: Pick<Config, 'allowInsecureRequests' | 'provider'>,
): ServerMetadata {
  const issuer = document['issuer']
  if (typeof issuer !== 'string' || !config.provider.issuers.includes(issuer))
    throw otherIssuer(issuer, config.provider)
  return defined({
    issuer,
    ...readEndpoints(document, config.allowInsecureRequests),
    ...readLists(document),
    requirePar: document['require_pushed_authorization_requests'] === true,
    issuerInCallback: document['authorization_response_iss_parameter_supported'] === true,
    idTokenAlgorithms: idTokenAlgorithms(document),
    requireRequestObject: document['require_signed_request_object'] === true || undefined,
    mutualTlsAliases: document['mtls_endpoint_aliases'] ?? undefined,
  })
}

function endpointMissing(detail: string): DiscoveryError {
  return new DiscoveryError('DISCOVERY_ERROR', { detail, remedy: 'ENDPOINT_MISSING', endpoint: 'discovery' })
}

/**
 * Returns the URL of an endpoint that the operation needs. Throws a `DiscoveryError` that names the metadata property.
 */
export function requireEndpoint<Name extends EndpointName>(
  metadata: Pick<ServerMetadata, Name | 'unusable'>,
  name: Name,
): string {
  const address: string | undefined = metadata[name]
  if (address !== undefined) return address
  const wireName = endpoints[name]
  throw endpointMissing(`${wireName} ${metadata.unusable.get(wireName) ?? 'is missing'}.`)
}

/** Returns whether the provider has an endpoint for requests with a TLS certificate, and this client sends such (RFC 8705 section 5). */
export function hasAlias(
  { mutualTlsAliases: aliases }: ServerMetadata,
  name: EndpointName,
  { mutualTls }: Pick<Config, 'mutualTls'>,
): boolean {
  return mutualTls !== undefined && isObject(aliases) && (aliases[endpoints[name]] ?? null) !== null
}

/**
 * Returns the URL of an endpoint for a request with a TLS certificate: its alias, if the provider has one (RFC 8705 section 5). Throws
 * as `requireEndpoint`.
 */
export function requireAlias(
  metadata: ServerMetadata,
  name: EndpointName,
  allowInsecureRequests: boolean,
): string {
  const { mutualTlsAliases: aliases } = metadata
  if (aliases === undefined) return requireEndpoint(metadata, name)
  if (!isObject(aliases)) throw endpointMissing('mtls_endpoint_aliases is not a JSON object.')
  const wireName = endpoints[name]
  const alias = aliases[wireName] ?? undefined
  if (alias === undefined) return requireEndpoint(metadata, name)
  const reason = unusableReason(alias, allowInsecureRequests)
  if (reason === null) return String(alias)
  throw endpointMissing(`mtls_endpoint_aliases.${wireName} ${reason}.`)
}
