import { InvalidConfigurationError } from '../errors/configuration.ts'
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
}

const NAMES = [
  'audience',
  'scopes',
  'strict',
  'notAudience',
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

/** Validates the options of a resource. Throws `InvalidConfigurationError`. */
export function readResource(options: unknown): ResourceConfig {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return refuse('its options must be an object.')
  checkKeys(options)
  const { audience, notAudience, scopes, strict }: Partial<Record<keyof ResourceOptions, unknown>> = options
  if (typeof audience !== 'string' || !QUOTABLE.test(audience))
    return refuse('audience must be a non-empty string without spaces, quotes and backslashes.')
  if (strict !== undefined && typeof strict !== 'boolean') return refuse('strict must be true or false.')
  const excluded = notAudience === undefined ? [] : readList('notAudience', notAudience)
  if (excluded.includes(audience)) return refuse('notAudience must not contain audience.')
  return Object.freeze({
    audience,
    ...(scopes === undefined ? {} : { scopes: readList('scopes', scopes) }),
    strict: strict ?? false,
    notAudience: excluded,
  })
}

/** Throws `InvalidConfigurationError` if the audience is that of the ID tokens of this client. */
export function checkAudience({ audience }: ResourceConfig, clientId: string): void {
  if (audience === clientId)
    refuse(
      'audience must not be the client id: register the API at the provider as an application of its own.',
    )
}
