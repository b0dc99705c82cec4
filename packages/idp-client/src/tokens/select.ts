import type { AuthorizationConfig } from '../config/config.ts'
import { coversScope, scopeSize } from '../session/model/scope.ts'
import type { AccessTokenSet, SessionData, TokenSet } from '../session/model/session-data.ts'
import type { TokenRequest } from './token-request.ts'

/** An access token of the session, for any audience. */
export type Entry = Pick<
  TokenSet,
  | 'accessToken'
  | 'authorizationDetails'
  | 'expiresAt'
  | 'scope'
  | 'requestedScope'
  | 'audience'
  | 'token_type'
>

/** Returns the audience of the main token set; undefined if neither the login nor the configuration has one. */
export function mainAudience(config: AuthorizationConfig, { tokenSet }: SessionData): string | undefined {
  return tokenSet.audience ?? config.audience
}

/** Returns whether the request is for the main token set. */
export function usesMainTokenSet(
  config: AuthorizationConfig,
  data: SessionData,
  want: TokenRequest,
): boolean {
  if (want.isDefaultRequest) return true
  const { tokenSet } = data
  const sameAudience = want.audience === undefined || want.audience === mainAudience(config, data)
  return sameAudience && coversScope(tokenSet.requestedScope ?? configuredText(config), want.scope)
}

function configuredText({ defaultScope, scope }: AuthorizationConfig): string | undefined {
  if (scope.kind === 'map') return undefined
  return scope.kind === 'text' ? scope.scope : defaultScope
}

/** Returns the entry of a further audience that covers the scope, with the smallest scope. */
export function findEntry(data: SessionData, want: TokenRequest): AccessTokenSet | undefined {
  const covering = (data.accessTokens ?? []).filter(
    ({ audience, requestedScope, scope }) =>
      audience === want.audience && coversScope(requestedScope ?? scope, want.scope),
  )
  return covering.sort((a, b) => scopeSize(a.scope) - scopeSize(b.scope))[0]
}

/** Returns the token of the session for a token request, valid or expired. */
export function storedEntry(
  config: AuthorizationConfig,
  data: SessionData,
  want: TokenRequest,
): Entry | undefined {
  const found: Entry | undefined = usesMainTokenSet(config, data, want)
    ? data.tokenSet
    : findEntry(data, want)
  return found?.accessToken ? found : undefined
}
