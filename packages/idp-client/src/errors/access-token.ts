import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

export type AccessTokenErrorCode = CodesOf<'AccessTokenError'>

/** The codes of `AccessTokenError`, each under its own name. */
export const AccessTokenErrorCode: { readonly [Name in AccessTokenErrorCode]: Name } =
  /* @__PURE__ */ toCodeNames('AccessTokenError')

/**
 * No access token is available, or the refresh token could not be revoked. The `cause` of `FAILED_TO_REFRESH_TOKEN`
 * and `FAILED_TO_REVOKE` is an `OAuthError` or a `DiscoveryError`.
 */
export class AccessTokenError extends IdpError<AccessTokenErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'AccessTokenError'
  declare readonly name: 'AccessTokenError'
}
