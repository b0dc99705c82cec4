import { frozenMap } from '../lib/freeze.ts'
import { defined } from '../lib/objects.ts'
import { toParameterString } from '../lib/strings.ts'
import { parseRedirectUri } from '../lib/url.ts'
import { parseUrls } from './base-url.ts'
import type { AppBaseUrl, AuthorizationConfig, ScopeSetting } from './config.ts'
import type { AuthorizationParameters } from './options.ts'
import type { Source } from './readers.ts'
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

/** Reports an invalid parameter. */
type Refuse = (name: string, what: string) => undefined

function readParameter(name: string, given: unknown, refuse: Refuse): string | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given
  return refuse(name, 'must be a string or null')
}

function resolveScope(given: unknown, audience: string | undefined, refuse: Refuse): ScopeSetting {
  const fallback: ScopeSetting = { kind: 'default' }
  if (given === undefined || given === null) return fallback
  if (typeof given === 'string') {
    if (!hasOpenId(given)) refuse('scope', "must contain 'openid'")
    return { kind: 'text', scope: given }
  }
  if (typeof given !== 'object' || Array.isArray(given)) {
    refuse('scope', 'must be a space-delimited string, null, or a map from audience to such a string')
    return fallback
  }
  const byAudience = new Map<string, string>()
  for (const [name, scope] of Object.entries(given)) {
    if (typeof scope === 'string') byAudience.set(name, scope)
    else refuse('scope', 'is a map with an entry that is not a string')
  }
  if (audience === undefined) {
    refuse('scope', 'is a map per audience, so authorizationParameters.audience must name the default one')
    return fallback
  }
  if (!hasOpenId(byAudience.get(audience) ?? defaultScope)) {
    refuse('scope', "must contain 'openid' in the entry of authorizationParameters.audience")
  }
  return { kind: 'map', byAudience: frozenMap(byAudience) }
}

function resolveRedirectUri(
  given: unknown,
  appBaseUrl: AppBaseUrl | null,
  refuse: Refuse,
): string | undefined {
  const uri = readParameter('redirect_uri', given, refuse)
  if (uri === undefined) return undefined
  const url = parseRedirectUri(uri)
  if (!url) {
    return refuse('redirect_uri', 'must be an absolute URL without fragment')
  }
  const urls = parseUrls(appBaseUrl)
  if (urls.length > 0 && !urls.some(({ origin }) => origin === url.origin)) {
    return refuse('redirect_uri', 'must have the origin of appBaseUrl, where the transaction cookie is')
  }
  return uri
}

function resolveMaxAge(given: unknown, refuse: Refuse): number | undefined {
  if (given === undefined || given === null) return undefined
  if ((typeof given === 'number' || typeof given === 'string') && /^\d{1,10}$/.test(String(given))) {
    return Number(given)
  }
  return refuse('max_age', 'must be an integer number of seconds, 0 or more')
}

function wireText(name: string, given: unknown, refuse: Refuse): string | undefined {
  if (given === undefined || given === null) return undefined
  return toParameterString(given) ?? refuse(name, 'must be a string, or an object that JSON can hold')
}

function resolveOthers(given: Partial<AuthorizationParameters>, refuse: Refuse): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(given)) {
    if (own.has(name) || isReservedParameter(name)) continue
    const text = wireText(name, value, refuse)
    if (text !== undefined) parameters.set(name, text)
  }
  const mode = parameters.get('response_mode')
  if (mode !== undefined && mode !== 'query' && mode !== 'form_post') {
    refuse('response_mode', "must be 'query' or 'form_post', which a server can read")
  }
  return frozenMap(parameters)
}

/** Resolves the parameters of every authorization request. Parameters that the library sets itself are dropped silently. */
export function resolveAuthorization(source: Source, appBaseUrl: AppBaseUrl | null): AuthorizationConfig {
  const given = readGroup('authorizationParameters', source.options.authorizationParameters, source)
  const refuse: Refuse = (name, what) =>
    invalid(toField(`authorizationParameters.${name}`, undefined, source), what)
  const audience = readParameter('audience', given.audience, refuse)
  return defined({
    defaultScope,
    redirectUri: resolveRedirectUri(given.redirect_uri, appBaseUrl, refuse),
    maxAge: resolveMaxAge(given.max_age, refuse),
    scope: resolveScope(given.scope, audience, refuse),
    audience,
    parameters: resolveOthers(given, refuse),
  })
}
