import { IdpError } from './base.ts'

export type AccessTokenErrorCode =
  | 'MISSING_SESSION'
  | 'MISSING_REFRESH_TOKEN'
  | 'FAILED_TO_REFRESH_TOKEN'
  | 'REFRESH_NOT_PERSISTABLE'
  | 'FAILED_TO_REVOKE'

/** The codes of `AccessTokenError`, each under its own name. */
export const AccessTokenErrorCode: { readonly [Name in AccessTokenErrorCode]: Name } = {
  MISSING_SESSION: 'MISSING_SESSION',
  MISSING_REFRESH_TOKEN: 'MISSING_REFRESH_TOKEN',
  FAILED_TO_REFRESH_TOKEN: 'FAILED_TO_REFRESH_TOKEN',
  REFRESH_NOT_PERSISTABLE: 'REFRESH_NOT_PERSISTABLE',
  FAILED_TO_REVOKE: 'FAILED_TO_REVOKE',
}

/**
 * No access token can be handed out, or no refresh token revoked. The `cause` of `FAILED_TO_REFRESH_TOKEN` and
 * `FAILED_TO_REVOKE` is an `OAuthError` or `DiscoveryError`.
 */
export class AccessTokenError extends IdpError<AccessTokenErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'AccessTokenError'
  declare readonly name: 'AccessTokenError'
}
