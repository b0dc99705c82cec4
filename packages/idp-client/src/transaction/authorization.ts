import type { AuthorizationConfig, Config } from '../config/config.ts'
import type { AuthorizationParameters } from '../config/options.ts'
import { IdpError } from '../errors/base.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'

/** What a caller adds to the configured parameters: the visitor's query (already reduced) or a programmatic call. */
export type ParameterChanges = Readonly<Record<string, unknown>>

export interface EffectiveAuthorization {
  readonly parameters: ReadonlyMap<string, string>
  readonly scope: string
  readonly audience?: string
  readonly maxAge?: number
  /** Byte for byte as given; absent: the callback route on the base URL. */
  readonly redirectUri?: string
  readonly crossSitePost: boolean
}

/** Objects become JSON (`claims`, `authorization_details`), everything else its plain text. */
function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The scope to ask for: the caller's as it is, else the configured one of the effective audience. */
export function effectiveScope(config: AuthorizationConfig, audience: string | undefined): string {
  const { scope } = config
  if (scope.kind === 'text') return scope.scope
  if (audience === undefined) {
    const detail =
      'authorizationParameters.scope is a map per audience, but this login has no audience: set authorizationParameters.audience.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  return scope.byAudience.get(audience) ?? config.defaultScope
}

function maxAgeOf(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined
  const value = String(given)
  if (!/^\d{1,10}$/.test(value)) throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: max_age.' })
  return Number(value)
}

/** Characters; it waits in the transaction's cookie, which browsers drop without a word when it is too large. */
const LONGEST_ORGANIZATION = 256

function checkOrganization(organization: string | undefined): void {
  if (organization === undefined || organization.length <= LONGEST_ORGANIZATION) return
  throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: organization.' })
}

function textOf(given: unknown, configured: string | undefined): string | undefined {
  return given === undefined || given === null ? configured : asText(given)
}

function scopeFor(
  given: AuthorizationParameters['scope'] | unknown,
  config: Config,
  audience: string | undefined,
): string {
  if (given === undefined || given === null) return effectiveScope(config.authorization, audience)
  if (typeof given !== 'object') return asText(given)
  const byAudience = new Map(Object.entries(given as Record<string, string>))
  return effectiveScope({ ...config.authorization, scope: { kind: 'map', byAudience } }, audience)
}

/**
 * Configured parameters with a caller's changes on top, key by key. `INVALID_REQUEST` for a `max_age` that is no
 * non-negative integer, and for an `organization` that no cookie could keep. Null and undefined mean "as configured"; an empty string and 0 are sent.
 */
export function effectiveAuthorization(config: Config, changes: ParameterChanges): EffectiveAuthorization {
  const {
    audience: givenAudience,
    scope: givenScope,
    redirect_uri: givenUri,
    max_age: givenMaxAge,
    ...rest
  } = changes
  const audience = textOf(givenAudience, config.authorization.audience)
  const scope = scopeFor(givenScope, config, audience)
  const maxAge = maxAgeOf(givenMaxAge) ?? config.authorization.maxAge
  const redirectUri = textOf(givenUri, config.authorization.redirectUri)

  const parameters = new Map(config.authorization.parameters)
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && value !== null) parameters.set(name, asText(value))
  }
  checkOrganization(parameters.get('organization'))
  parameters.set('scope', scope)
  if (audience !== undefined) parameters.set('audience', audience)
  if (maxAge !== undefined) parameters.set('max_age', String(maxAge))
  return {
    parameters,
    scope,
    ...(audience === undefined ? {} : { audience }),
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    crossSitePost: parameters.get('response_mode') === 'form_post',
  }
}
