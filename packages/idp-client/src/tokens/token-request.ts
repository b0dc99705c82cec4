import type { AuthorizationConfig } from '../config/config.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import { defined } from '../lib/objects.ts'
import { coversScope, unitedScope, withoutScope } from '../session/model/scope.ts'
import type { SessionData, TokenSet } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { mainAudience, usesMainTokenSet } from './select.ts'

export const OFFLINE_ACCESS = 'offline_access'

/** The token that a caller requests, with everything that the configuration adds. */
export interface TokenRequest {
  /** Undefined: the audience of the login. */
  readonly audience?: string
  /** Scope that the token must have. */
  readonly scope: string
  /** Parameters of the refresh request: only if the caller named them (RFC 6749 section 6). */
  readonly wireParameters: { readonly audience?: string; readonly scope?: string }
  readonly force: boolean
  /** The caller requested neither audience nor scope: the main token set. */
  readonly isDefaultRequest: boolean
  /** The token stays in this process and is not stored in the session. */
  readonly processOnly?: true
  /** A refresh does not count as use of the session. */
  readonly isBackground?: boolean
}

/** Returns an access token of the session: the operation `getAccessToken`. */
export type TokenSource = (
  options: GetAccessTokenOptions,
) => Promise<{ readonly token: string; readonly token_type?: string }>

/** Returns whether the default scope is the configured one of an audience (default: the configured audience). */
export function usesDefaultScope(
  { audience: configured, scope }: AuthorizationConfig,
  audience: string | undefined = configured,
): boolean {
  if (scope.kind !== 'map') return scope.kind === 'default'
  return audience === undefined || !scope.byAudience.has(audience)
}

function configuredScope(config: AuthorizationConfig, audience: string | undefined): string {
  const { defaultScope, scope } = config
  if (scope.kind === 'text') return scope.scope
  if (scope.kind === 'default') return defaultScope
  if (audience === undefined) return ''
  return scope.byAudience.get(audience) ?? (audience === config.audience ? defaultScope : '')
}

/**
 * Returns the part of the configured scope that an access token must have. `offline_access` of the default does not
 * concern access tokens, and is not sent if the provider does not list it.
 */
function requiredScope(config: AuthorizationConfig, audience: string | undefined): string {
  const scope = configuredScope(config, audience)
  return usesDefaultScope(config, audience) ? withoutScope(scope, OFFLINE_ACCESS) : scope
}

/**
 * Returns the scope to request for a new main token with all that the old one has: the granted scope, which the provider accepts again
 * (RFC 6749 section 6). If the provider granted others in place of the requested ones, those that were requested: Microsoft Entra ID
 * rejects `.default` beside what it stands for.
 */
export function renewedScope({ requestedScope, scope = requestedScope }: TokenSet): string | undefined {
  return requestedScope === undefined || coversScope(requestedScope, scope) ? scope : requestedScope
}

/**
 * Returns the request with the whole scope of the main token, if it is for a part of it: calls without a scope get the new main token,
 * too.
 */
function withMainScope(config: AuthorizationConfig, want: TokenRequest, data: SessionData): TokenRequest {
  const { wireParameters: sent } = want
  if (sent.scope === undefined || !usesMainTokenSet(config, data, want)) return want
  return { ...want, wireParameters: { ...sent, scope: unitedScope(sent.scope, renewedScope(data.tokenSet)) } }
}

/**
 * Returns the token that a call with these options requests from a session; without one, from a login as configured. A
 * call without audience and scope requests the main token set.
 */
export function toTokenRequest(
  config: AuthorizationConfig,
  options: GetAccessTokenOptions,
  session?: Pick<StoredSession, 'data'>,
): TokenRequest {
  const audience = options.audience ?? (session ? mainAudience(config, session.data) : config.audience)
  const merged = options.mergeScopes ?? true
  const requested = (configured: typeof configuredScope): string =>
    merged ? unitedScope(configured(config, audience), options.scope) : unitedScope(options.scope)
  const scope = options.scope === undefined ? undefined : requested(configuredScope)
  const want = {
    ...defined({ audience }),
    scope: requested(requiredScope),
    wireParameters: defined({ audience: options.audience, scope }),
    force: options.refresh ?? false,
    isDefaultRequest: options.audience === undefined && options.scope === undefined,
  }
  return session ? withMainScope(config, want, session.data) : want
}

/** Returns the token request of a stored context; without an audience, for that of the session. */
export function restoreTokenRequest(
  config: AuthorizationConfig,
  { scope, wireParameters: sent }: Pick<TokenRequest, 'scope' | 'wireParameters'>,
  { data }: Pick<StoredSession, 'data'>,
): TokenRequest {
  const audience = sent.audience ?? mainAudience(config, data)
  return {
    ...defined({ audience }),
    scope,
    wireParameters: sent,
    force: false,
    isDefaultRequest: sent.audience === undefined && sent.scope === undefined,
  }
}
