import type { AuthorizationConfig, Config } from '../config/config.ts'
import { IdpError } from '../errors/base.ts'
import { invalidConfiguration, toParameter } from '../errors/configuration.ts'
import { defined } from '../lib/objects.ts'
import { parseRedirectUri } from '../lib/url.ts'
import { coversScope, unitedScope } from '../session/model/scope.ts'

/** Parameters that change the configured ones: from `queryChanges`, or from a call of the application. */
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

const toChange = (name: string, value: unknown): string => toParameter('authorizationParameters', name, value)

/** Returns the configured scope of an audience. Throws `INVALID_CONFIGURATION` for a map of scopes without audience. */
export function effectiveScope(config: AuthorizationConfig, audience: string | undefined): string {
  const { scope } = config
  if (scope.kind === 'text') return scope.scope
  if (scope.kind === 'default') return config.defaultScope
  if (audience === undefined) {
    const detail =
      'authorizationParameters.scope is a map per audience, but this login has no audience: set authorizationParameters.audience.'
    throw invalidConfiguration(detail)
  }
  return scope.byAudience.get(audience) ?? config.defaultScope
}

/** Returns the configured scope with a further one added; byte for byte as configured if it covers that one. */
export function extendedScope(
  config: AuthorizationConfig,
  audience: string | undefined,
  further: string | undefined,
): string {
  const configured = effectiveScope(config, audience)
  return coversScope(configured, further) ? configured : unitedScope(configured, further)
}

function toMaxAge(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined
  const value = String(given)
  if (!/^\d{1,10}$/.test(value)) throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: max_age.' })
  return Number(value)
}

/** Maximum length in characters. The transaction cookie contains it, and browsers drop a cookie that is too large. */
const LONGEST_ORGANIZATION = 256

function toText(name: string, given: unknown, configured: string | undefined): string | undefined {
  return given === undefined || given === null ? configured : toChange(name, given)
}

function toScope(given: unknown, config: AuthorizationConfig, audience: string | undefined): string {
  if (given === undefined || given === null) return effectiveScope(config, audience)
  if (typeof given !== 'object' || Array.isArray(given)) return toChange('scope', given)
  const byAudience = new Map(Object.entries(given as Record<string, string>))
  return toChange('scope', effectiveScope({ ...config, scope: { kind: 'map', byAudience } }, audience))
}

/** Parameters that a login link may set only where the application has not configured them. */
const CONFIGURED_FIRST: ReadonlySet<string> = new Set(['audience', 'organization', 'acr_values', 'prompt'])

/** Those that the login link of a popup may still set if there is a session: its tokens belong to that session. */
const OF_STEP_UP: ReadonlySet<string> = new Set(['audience', 'acr_values', 'prompt'])

function configuredValue({ audience, parameters }: AuthorizationConfig, name: string): string | undefined {
  return name === 'audience' ? audience : parameters.get(name)
}

/**
 * Returns whether the parameters of a login link are allowed only for a step-up of an existing session, so that the login
 * must fail if the session ends meanwhile. Requirements of a guard are allowed in every login.
 */
export function isStepUpOnly(
  config: AuthorizationConfig,
  { parameters }: Pick<EffectiveAuthorization, 'parameters'>,
  guard: ParameterChanges = {},
): boolean {
  return [...OF_STEP_UP].some((name) => {
    const configured = configuredValue(config, name)
    return configured !== undefined && guard[name] === undefined && parameters.get(name) !== configured
  })
}

/**
 * Returns the parameters that the query of the login route may change. A link must not override the configuration:
 * `audience`, `organization`, `acr_values` and `prompt` apply if none is configured, `max_age` only lowers a configured
 * one. An empty `organization` counts as absent. Throws `INVALID_REQUEST` unless `max_age` is a non-negative integer.
 */
export function queryChanges(
  config: AuthorizationConfig,
  query: ParameterChanges,
  isStepUp: boolean,
): ParameterChanges {
  const { max_age: givenMaxAge, ...others } = query
  const kept = Object.entries(others).filter(([name, value]) => {
    if (name === 'organization' && value === '') return false
    if (!CONFIGURED_FIRST.has(name) || configuredValue(config, name) === undefined) return true
    return isStepUp && OF_STEP_UP.has(name)
  })
  return {
    ...Object.fromEntries(kept),
    ...lowestAge({ max_age: toMaxAge(givenMaxAge) }, { max_age: config.maxAge }),
  }
}

/** Returns the lowest `max_age` as a parameter. */
function lowestAge(...given: readonly { readonly max_age?: unknown }[]): { max_age?: number } {
  const ages = given.flatMap(({ max_age }) => toMaxAge(max_age) ?? [])
  return ages.length === 0 ? {} : { max_age: Math.min(...ages) }
}

/** Adds the requirements of a guard to the changes of a link. They take precedence, since the application sets them. */
export function withGuardParameters(changes: ParameterChanges, guard: ParameterChanges): ParameterChanges {
  return { ...changes, ...guard, ...lowestAge(changes, guard) }
}

/**
 * Returns the configured parameters with a caller's changes. Throws `INVALID_REQUEST` unless `max_age` is a non-negative
 * integer, and for an `organization` that is too long for the cookie; `InvalidConfigurationError` for another `response_mode` than
 * `query` and `form_post`, and for a value that has no string form. Null and undefined mean "as configured"; an empty string
 * and 0 are sent, but an empty `organization` counts as absent.
 */
export function effectiveAuthorization(config: Config, changes: ParameterChanges): EffectiveAuthorization {
  const { authorization } = config
  const { audience: givenAudience, max_age, redirect_uri, scope: givenScope, ...rest } = changes
  const audience = toText('audience', givenAudience, authorization.audience)
  const scope = toScope(givenScope, authorization, audience)
  const maxAge = toMaxAge(max_age) ?? authorization.maxAge
  const redirectUri = toText('redirect_uri', redirect_uri, authorization.redirectUri)

  const parameters = new Map(authorization.parameters)
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && value !== null) parameters.set(name, toChange(name, value))
  }
  const organization = parameters.get('organization') ?? ''
  if (organization === '') parameters.delete('organization')
  if (organization.length > LONGEST_ORGANIZATION)
    throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: organization.' })
  const mode = parameters.get('response_mode') ?? 'query'
  if (mode !== 'query' && mode !== 'form_post')
    throw invalidConfiguration(
      "authorizationParameters.response_mode must be 'query' or 'form_post', which a server can read.",
    )
  parameters.set('scope', scope)
  if (audience !== undefined) parameters.set('audience', audience)
  if (maxAge !== undefined) parameters.set('max_age', String(maxAge))
  return defined({
    parameters,
    scope,
    audience,
    maxAge,
    redirectUri,
    crossSitePost: mode === 'form_post',
  })
}

/**
 * Returns the redirect URI: `given` byte for byte, otherwise the URL of the callback route. Throws
 * `InvalidConfigurationError` for a URL on another origin.
 */
export function toRedirectUri(
  { basePath, routes }: Pick<Config, 'basePath' | 'routes'>,
  baseUrl: string,
  given: string | undefined,
): string {
  if (given === undefined) return `${baseUrl}${basePath}${routes.callback}`
  if (parseRedirectUri(given)?.origin === new URL(baseUrl).origin) return given
  const detail =
    'authorizationParameters.redirect_uri must be an absolute URL without fragment on the origin of the application.'
  throw invalidConfiguration(detail)
}
