import { InvalidConfigurationError } from '../errors/configuration.ts'
import { parseHttpUrl } from './http-url.ts'
import { nearestName } from './unknown-keys.ts'

/** Options of `idp.resource()`: an API that access tokens of the provider protect. They are fixed when it is called. */
export interface ResourceOptions {
  /**
   * The identifier of the API at the provider, which `aud` of its access tokens must contain. It must not be the client id,
   * which is the audience of ID tokens: register the API as an application of its own.
   */
  audience: string
  /** Scopes of the API. A guard that requires another one is not created. Default: any scope may be required. */
  scopes?: readonly string[]
  /**
   * Whether to accept only tokens of RFC 9068: the header `typ` is `at+jwt`, and `exp`, `iat`, `jti`, `sub` and `client_id` are
   * present. Many providers issue others. Default: false.
   */
  strict?: boolean
  /**
   * The URL of the API, as its clients know it (RFC 9728 section 1.2): https without query and fragment; http on this machine,
   * outside production. Default: `audience`, if that is one. Used only with `metadata`.
   */
  resource?: string
  /**
   * Whether the middleware serves the metadata of the API (RFC 9728), below the base path at
   * `/.well-known/oauth-protected-resource` and the path of `resource`. Challenges name its URL, so that clients that know only
   * the API find the provider (MCP). Default: false.
   */
  metadata?: boolean
  /** Ids of further clients of the provider: a token with one of them in `aud` is refused, as their ID tokens are. Default: none. */
  notAudience?: readonly string[]
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
}

const NAMES = [
  'audience',
  'scopes',
  'strict',
  'notAudience',
  'resource',
  'metadata',
] as const satisfies readonly (keyof ResourceOptions)[]

/** Printable ASCII without space, quote and backslash: values appear in challenges (RFC 6750 section 3). */
const QUOTABLE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

function refuse(what: string): never {
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', {
    detail: `idp.resource: ${what}`,
    atConstruction: true,
  })
}

function readList(name: 'scopes' | 'notAudience', value: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : []
  const isValid = (entry: unknown): entry is string => typeof entry === 'string' && QUOTABLE.test(entry)
  return entries.length > 0 && entries.every(isValid)
    ? Object.freeze(entries)
    : refuse(`${name} must be a list of non-empty strings without spaces, quotes and backslashes.`)
}

function checkKeys(options: object): void {
  const unknown = Object.keys(options).find((key) => !(NAMES as readonly string[]).includes(key))
  if (unknown === undefined) return
  const meant = nearestName(unknown, NAMES)
  refuse(`it has an unknown option. ${meant ? `Did you mean ${meant}?` : `It takes ${NAMES.join(', ')}.`}`)
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns the URL of an API, or `null` if the value is not usable as one. */
function parseResource(value: string, { production }: ResourceSettings): URL | null {
  const url = parseHttpUrl(value)
  const isAllowed = url?.protocol === 'https:' || (!production && url !== null && LOOPBACK.test(url.hostname))
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

/** Validates the options of a resource. Throws `InvalidConfigurationError`. */
export function readResource(options: unknown, settings: ResourceSettings): ResourceConfig {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return refuse('its options must be an object.')
  checkKeys(options)
  const {
    audience,
    metadata,
    notAudience,
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
  return Object.freeze({
    audience,
    ...(scopes === undefined ? {} : { scopes: readList('scopes', scopes) }),
    strict: strict ?? false,
    notAudience: excluded,
    ...(metadata ? { metadata: toMetadata(resource, settings) } : {}),
  })
}

/** Throws `InvalidConfigurationError` if the audience is that of the ID tokens of this client. */
export function checkAudience({ audience }: ResourceConfig, clientId: string): void {
  if (audience === clientId)
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
