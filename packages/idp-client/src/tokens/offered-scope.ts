import type { AuthorizationConfig, Config } from '../config/config.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { coversScope, withoutScope } from '../session/model/scope.ts'
import type { TokenRequest } from './token-request.ts'
import { OFFLINE_ACCESS, usesDefaultScope } from './token-request.ts'

const WITHOUT_OFFLINE_ACCESS =
  'The provider does not list offline_access in scopes_supported, so the default scope is sent without it. Set authorizationParameters.scope to the scope that you want.'

/** Scopes in the provider's metadata. */
interface Offer {
  /** `scopes_supported`, absent when not advertised. */
  readonly scopes?: readonly string[]
}

/**
 * Returns the configuration with the default scope that this provider supports: without `offline_access` if its metadata lists
 * scopes without that one, which is reported once. Call it where the default scope is used.
 */
export function withOfferedScope(
  { authorization, log }: Pick<Config, 'authorization' | 'log'>,
  { scopes }: Offer,
): AuthorizationConfig {
  if (!scopes || scopes.includes(OFFLINE_ACCESS)) return authorization
  log.once(WITHOUT_OFFLINE_ACCESS)
  return { ...authorization, defaultScope: withoutScope(authorization.defaultScope, OFFLINE_ACCESS) }
}

/** A call of `getAccessToken`, and what it requests. */
export interface ScopedCall {
  readonly options: GetAccessTokenOptions
  readonly want: TokenRequest
}

/** Returns the `scope` to send with a refresh. A scope of the caller is sent even if the provider does not list it. */
export async function refreshScope(
  scope: string,
  config: Config,
  metadata: () => MaybePromise<Offer>,
  { options, want }: ScopedCall,
): Promise<string> {
  const isNamed = coversScope(options.scope, OFFLINE_ACCESS)
  if (isNamed || !usesDefaultScope(config.authorization, want.audience)) return scope
  const { defaultScope } = withOfferedScope(config, await metadata())
  return coversScope(defaultScope, OFFLINE_ACCESS) ? scope : withoutScope(scope, OFFLINE_ACCESS)
}
