import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

export type AccessTokenForConnectionErrorCode = CodesOf<'AccessTokenForConnectionError'>

/** The codes of `AccessTokenForConnectionError`, each under its own name. */
export const AccessTokenForConnectionErrorCode: {
  readonly [Name in AccessTokenForConnectionErrorCode]: Name
} = /* @__PURE__ */ toCodeNames('AccessTokenForConnectionError')

/**
 * No access token of a connected account is available. The `cause` of `FAILED_TO_EXCHANGE_REFRESH_TOKEN` is an
 * `OAuthError` or a `DiscoveryError`.
 */
export class AccessTokenForConnectionError extends IdpError<AccessTokenForConnectionErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'AccessTokenForConnectionError'
  declare readonly name: 'AccessTokenForConnectionError'
}
