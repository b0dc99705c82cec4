import { invalidAtStart } from '../errors/configuration.ts'
import { defined, isObject } from '../lib/objects.ts'
import { parseUrl } from '../lib/url.ts'
import { isLoopback } from './base-url.ts'
import { parseHttpUrl } from './http-url.ts'
import { unknownOption } from './unknown-keys.ts'

/** Options of `idp.resource()`: an API that access tokens of the provider protect. They are fixed when it is called. */
export interface ResourceOptions<Scope extends string = string> {
  /**
   * The identifier of the API at the provider, which `aud` of its access tokens must contain. It must not be the client id,
   * which is the audience of ID tokens: register the API with an identifier of its own.
   */
  audience: string
  /** Scopes of the API. A guard that requires another one is not created. Default: any scope may be required. */
  scopes?: readonly Scope[]
  /**
   * Whether to accept only tokens of RFC 9068: the header `typ` is `at+jwt`, and `exp`, `iat`, `jti`, `sub` and `client_id` are
   * present. Many providers issue others. Default: false.
   */
  strict?: boolean
  /**
   * The URL of the API, as its clients know it (RFC 9728 section 1.2): https without query and fragment; http on this machine,
   * outside production. Used for `metadata`, and beside `appBaseUrl` for the URL that DPoP proofs may name. Default: with
   * `metadata` it is `audience`, if that is one.
   */
  resource?: string
  /**
   * Whether the middleware serves the metadata of the API (RFC 9728), below the base path at
   * `/.well-known/oauth-protected-resource` and the path of `resource`. Challenges name its URL, so that clients that know only
   * the API find the provider (MCP). Default: false.
   */
  metadata?: boolean
  /**
   * Whether the provider is asked about opaque tokens (RFC 7662), which needs its `introspection_endpoint`. `'always'` asks also
   * about JWTs, which are verified before, so that a revoked one is refused. `{ audience: 'optional' }` accepts an opaque token
   * without `aud`, but with `token_type`: then any access token of the provider opens the API. The response about an active
   * token is kept for at most 60 s, about another 5 s. Default: false; opaque tokens are refused.
   */
  introspection?: boolean | 'always' | { readonly audience: 'optional' }
  /**
   * Returns the certificate of the client of a request, as PEM or as DER bytes; `undefined` without one. Tokens that are bound to a
   * certificate (`cnf` with `x5t#S256`, RFC 8705) are refused without it. A header may be its source only if the proxy in front
   * always overwrites that header. Default: none.
   */
  clientCertificate?: (request: CertificateRequest) => ClientCertificate | Promise<ClientCertificate>
  /** Settings for tokens that are bound by DPoP (RFC 9449). */
  dpop?: {
    /**
     * Whether proofs need a nonce of this application, which is valid for 300 s in all its processes: it needs `secret`. Clients
     * get it by a response 401 with the header `DPoP-Nonce`. Default: false.
     */
    readonly nonce?: boolean
  }
  /**
   * Origins whose pages may call the API with a token, beside that of the application: a request with another `Origin` is refused,
   * as MCP demands against DNS rebinding. Default: all origins may, since a page has no token of its own.
   */
  origins?: readonly string[]
  /** Ids of further clients of the provider: a token with one of them in `aud` is refused, as their ID tokens are. Default: none. */
  notAudience?: readonly string[]
}

/** The certificate of a client: PEM, or DER bytes; `undefined` without one. */
export type ClientCertificate = string | Uint8Array | undefined

/** The request of a client whose certificate is wanted. */
export interface CertificateRequest {
  readonly headers: Pick<Headers, 'get' | 'has'>
  readonly method: string
  /** As this process received it; null if the framework does not provide it. */
  readonly url: URL | null
}

/** A validated resource. */
export interface ResourceConfig {
  readonly audience: string
  /** Absent: any. */
  readonly scopes?: readonly string[]
  readonly strict: boolean
  readonly notAudience: readonly string[]
  /** Absent: no metadata is served. */
  readonly metadata?: ResourceMetadata
  readonly clientCertificate?: NonNullable<ResourceOptions['clientCertificate']>
  readonly dpopNonce: boolean
  /** Absent: all. */
  readonly origins?: readonly string[]
  /** The URL of the API; absent if it is unknown. */
  readonly url?: string
  /** Absent: only JWTs are accepted. */
  readonly introspection?: IntrospectionConfig
}

export interface IntrospectionConfig {
  /** Whether JWTs are introspected, too. */
  readonly always: boolean
  /** Whether the response about an opaque token must contain `aud`. */
  readonly audience: 'required' | 'optional'
}

/** The metadata of an API: what it names, and where it is served. */
export interface ResourceMetadata {
  readonly resource: string
  /** Path without base path. */
  readonly path: string
  /** URL with base path, for challenges. */
  readonly url: string
}

/** The settings of a client that decide about the metadata of its APIs. */
export interface ResourceSettings {
  readonly basePath: string
  readonly production: boolean
  readonly sessions: boolean
}

const NAMES = [
  'audience',
  'scopes',
  'strict',
  'notAudience',
  'resource',
  'metadata',
  'introspection',
  'clientCertificate',
  'dpop',
  'origins',
] as const satisfies readonly (keyof ResourceOptions)[]

/** Printable ASCII without space, quote and backslash: values appear in challenges (RFC 6750 section 3). */
const QUOTABLE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

function refuse(what: string): never {
  throw invalidAtStart(`idp.resource: ${what}`)
}

function readList(name: 'scopes' | 'notAudience', value: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : []
  const isValid = (entry: unknown): entry is string => typeof entry === 'string' && QUOTABLE.test(entry)
  return entries.length > 0 && entries.every(isValid)
    ? Object.freeze(entries)
    : refuse(`${name} must be a list of non-empty strings without spaces, quotes and backslashes.`)
}

function checkKeys(options: object): void {
  const unknown = unknownOption(options, NAMES)
  if (unknown !== undefined) refuse(`it has ${unknown}`)
}

/** Returns the URL of an API, or `null` if the value is not usable as one. */
function parseResource(value: string, { production }: ResourceSettings): URL | null {
  const url = parseHttpUrl(value)
  const isAllowed = url?.protocol === 'https:' || (!production && url !== null && isLoopback(url.host))
  return isAllowed ? url : null
}

/** The path of RFC 9728 section 3.1 in front of the path of a resource. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

function toMetadata(resource: string, settings: ResourceSettings): ResourceMetadata {
  const url = parseResource(resource, settings)
  if (!url)
    return refuse(
      'metadata needs resource, the URL of the API: https without query and fragment, http only on this machine.',
    )
  const path = WELL_KNOWN + url.pathname.replace(/\/$/, '')
  return Object.freeze({ resource, path, url: `${url.origin}${settings.basePath}${path}` })
}

/** Returns the only member of an option that is an object; `undefined` for anything else. */
function onlyMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.keys(value).join() === name ? value[name] : undefined
}

function readIntrospection(value: unknown): IntrospectionConfig | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true || value === 'always') return { always: value === 'always', audience: 'required' }
  return onlyMember(value, 'audience') === 'optional'
    ? { always: false, audience: 'optional' }
    : refuse("introspection must be true, false, 'always' or { audience: 'optional' }.")
}

function readDpopNonce(value: unknown): boolean {
  const nonce = value === undefined ? false : onlyMember(value, 'nonce')
  return typeof nonce === 'boolean' ? nonce : refuse('dpop must be an object with nonce: true or false.')
}

function readOrigins(value: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : []
  const isOrigin = (entry: unknown): entry is string =>
    typeof entry === 'string' && parseUrl(entry)?.origin === entry
  return entries.length > 0 && entries.every(isOrigin)
    ? Object.freeze(entries)
    : refuse('origins must be a list of origins, such as https://app.example.com, without a path.')
}

function readCertificateOption(value: unknown): ResourceConfig['clientCertificate'] {
  return value === undefined || typeof value === 'function'
    ? (value as ResourceConfig['clientCertificate'])
    : refuse('clientCertificate must be a function.')
}

/** Validates the options of a resource. Throws `InvalidConfigurationError`. */
export function readResource(options: unknown, settings: ResourceSettings): ResourceConfig {
  if (!isObject(options)) return refuse('its options must be an object.')
  checkKeys(options)
  const {
    audience,
    clientCertificate,
    dpop,
    introspection,
    metadata,
    notAudience,
    origins,
    resource = audience,
    scopes,
    strict,
  }: Partial<Record<keyof ResourceOptions, unknown>> = options
  if (typeof audience !== 'string' || !QUOTABLE.test(audience))
    return refuse('audience must be a non-empty string without spaces, quotes and backslashes.')
  if (strict !== undefined && typeof strict !== 'boolean') return refuse('strict must be true or false.')
  if (metadata !== undefined && typeof metadata !== 'boolean')
    return refuse('metadata must be true or false.')
  if (typeof resource !== 'string') return refuse('resource must be a URL.')
  const excluded = notAudience === undefined ? [] : readList('notAudience', notAudience)
  if (excluded.includes(audience)) return refuse('notAudience must not contain audience.')
  // An audience that looks like a URL is not yet the one of the API.
  const isStated = 'resource' in options || metadata === true
  const config: ResourceConfig = defined({
    audience,
    scopes: scopes === undefined ? undefined : readList('scopes', scopes),
    strict: strict ?? false,
    notAudience: excluded,
    introspection: readIntrospection(introspection),
    clientCertificate: readCertificateOption(clientCertificate),
    dpopNonce: readDpopNonce(dpop),
    origins: origins === undefined ? undefined : readOrigins(origins),
    url: isStated && parseResource(resource, settings) ? resource : undefined,
    metadata: metadata ? toMetadata(resource, settings) : undefined,
  })
  return Object.freeze(config)
}

/** Throws `InvalidConfigurationError` for options that need a client at the provider or `secret`, if there are none. */
export function checkNeeds(
  { dpopNonce, introspection }: ResourceConfig,
  { sessions }: ResourceSettings,
): void {
  if (sessions) return
  if (introspection) refuse('introspection needs a client at the provider, which sessions: false excludes.')
  if (dpopNonce) refuse('dpop.nonce needs the option secret, which sessions: false excludes.')
}

/** Throws `InvalidConfigurationError` if the audience is that of the ID tokens of this client. */
export function checkAudience({ audience }: ResourceConfig, idTokenAudiences: readonly string[]): void {
  if (idTokenAudiences.includes(audience))
    refuse(
      'audience must not be the client id: register the API at the provider as an application of its own.',
    )
}

/** Throws `InvalidConfigurationError` if the metadata of another resource is served at the same path. */
export function checkPath({ resource }: ResourceMetadata, other: ResourceConfig | undefined): void {
  if (other?.metadata && other.metadata.resource !== resource)
    refuse(
      'the metadata of two resources would be at one path: give one of them another path, or no metadata.',
    )
}
