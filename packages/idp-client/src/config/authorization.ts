import { defined } from '../lib/defined.ts'
import { frozenMap } from '../lib/freeze.ts'
import { toOrigins } from './base-url.ts'
import type { AppBaseUrl, AuthorizationConfig, ScopeSetting } from './config.ts'
import type { AuthorizationParameters, IdpClientOptions } from './options.ts'
import type { AddIssue } from './readers.ts'
import { invalid, readGroup, toField } from './readers.ts'

export const defaultScope = 'openid profile email offline_access'

const reserved: ReadonlySet<string> = new Set([
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'nonce',
])

/** Whether a parameter belongs to the protocol run, so that neither configuration nor callers may set it. */
export function isReservedParameter(name: string): boolean {
  return reserved.has(name) || name.startsWith('client_')
}

const own: ReadonlySet<string> = new Set(['scope', 'audience', 'redirect_uri', 'max_age'])

function hasOpenId(scope: string): boolean {
  return scope.split(/\s+/).includes('openid')
}

function parameter(name: string, given: unknown) {
  return toField(`authorizationParameters.${name}`, given)
}

function readParameter(name: string, given: unknown, addIssue: AddIssue): string | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given
  return invalid(parameter(name, given), addIssue, 'must be a string or null')
}

function resolveScope(given: unknown, audience: string | undefined, addIssue: AddIssue): ScopeSetting {
  const fallback: ScopeSetting = { kind: 'default' }
  const field = parameter('scope', given)
  if (given === undefined || given === null) return fallback
  if (typeof given === 'string') {
    if (!hasOpenId(given)) invalid(field, addIssue, "must contain 'openid'")
    return { kind: 'text', scope: given }
  }
  if (typeof given !== 'object' || Array.isArray(given)) {
    invalid(
      field,
      addIssue,
      'must be a space-delimited string, null, or a map from audience to such a string',
    )
    return fallback
  }
  const byAudience = new Map<string, string>()
  for (const [name, scope] of Object.entries(given)) {
    if (typeof scope === 'string') byAudience.set(name, scope)
    else invalid(field, addIssue, 'is a map with an entry that is not a string')
  }
  if (audience === undefined) {
    invalid(
      field,
      addIssue,
      'is a map per audience, so authorizationParameters.audience must name the default one',
    )
    return fallback
  }
  if (!hasOpenId(byAudience.get(audience) ?? defaultScope)) {
    invalid(field, addIssue, "must contain 'openid' in the entry of authorizationParameters.audience")
  }
  return { kind: 'map', byAudience: frozenMap(byAudience) }
}

function resolveRedirectUri(
  given: unknown,
  appBaseUrl: AppBaseUrl | null,
  addIssue: AddIssue,
): string | undefined {
  const field = parameter('redirect_uri', given)
  const uri = readParameter('redirect_uri', given, addIssue)
  if (uri === undefined) return undefined
  if (!/^https?:\/\/[^\s\\#]+$/i.test(uri) || !URL.canParse(uri)) {
    return invalid(field, addIssue, 'must be an absolute URL without fragment')
  }
  const origins = appBaseUrl ? toOrigins(appBaseUrl) : new Set()
  if (origins.size > 0 && !origins.has(new URL(uri).origin)) {
    return invalid(field, addIssue, 'must have the origin of appBaseUrl, where the transaction cookie is')
  }
  return uri
}

function resolveMaxAge(given: unknown, addIssue: AddIssue): number | undefined {
  if (given === undefined || given === null) return undefined
  if ((typeof given === 'number' || typeof given === 'string') && /^\d{1,10}$/.test(String(given))) {
    return Number(given)
  }
  return invalid(parameter('max_age', given), addIssue, 'must be an integer number of seconds, 0 or more')
}

function toJson(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Lists of plain values have no common wire form (`resource` repeats, `ui_locales` has blanks): the caller must choose. */
function isPlainList(value: object): boolean {
  return Array.isArray(value) && value.some((entry) => typeof entry !== 'object' || entry === null)
}

function wireText(name: string, given: unknown, addIssue: AddIssue): string | undefined {
  switch (typeof given) {
    case 'string':
      return given
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(given)
    case 'object': {
      if (given === null) return undefined
      const text = isPlainList(given) ? undefined : toJson(given)
      return (
        text ?? invalid(parameter(name, given), addIssue, 'must be a string, or an object that JSON can hold')
      )
    }
    case 'undefined':
      return undefined
    default:
      return invalid(parameter(name, given), addIssue, 'must be a string')
  }
}

function resolveOthers(
  given: Partial<AuthorizationParameters>,
  addIssue: AddIssue,
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(given)) {
    if (own.has(name) || isReservedParameter(name)) continue
    const text = wireText(name, value, addIssue)
    if (text !== undefined) parameters.set(name, text)
  }
  const mode = parameters.get('response_mode')
  if (mode !== undefined && mode !== 'query' && mode !== 'form_post') {
    invalid(
      parameter('response_mode', mode),
      addIssue,
      "must be 'query' or 'form_post', which a server can read",
    )
  }
  return frozenMap(parameters)
}

/** Resolves the parameters of every authorization request. Parameters that the library sets itself are dropped silently. */
export function resolveAuthorization(
  options: IdpClientOptions,
  appBaseUrl: AppBaseUrl | null,
  addIssue: AddIssue,
): AuthorizationConfig {
  const given = readGroup('authorizationParameters', options.authorizationParameters, addIssue)
  const audience = readParameter('audience', given.audience, addIssue)
  const redirectUri = resolveRedirectUri(given.redirect_uri, appBaseUrl, addIssue)
  const maxAge = resolveMaxAge(given.max_age, addIssue)
  return defined({
    defaultScope,
    scope: resolveScope(given.scope, audience, addIssue),
    audience,
    redirectUri,
    maxAge,
    parameters: resolveOthers(given, addIssue),
  })
}
