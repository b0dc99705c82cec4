import { IdpError } from './base.ts'

export type AccessTokenForConnectionErrorCode =
  | 'MISSING_CONNECTION'
  | 'MISSING_SESSION'
  | 'MISSING_REFRESH_TOKEN'
  | 'FAILED_TO_EXCHANGE_REFRESH_TOKEN'

/** The codes of `AccessTokenForConnectionError`, each under its own name. */
export const AccessTokenForConnectionErrorCode: {
  readonly [Name in AccessTokenForConnectionErrorCode]: Name
} = {
  MISSING_CONNECTION: 'MISSING_CONNECTION',
  MISSING_SESSION: 'MISSING_SESSION',
  MISSING_REFRESH_TOKEN: 'MISSING_REFRESH_TOKEN',
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN',
}

/**
 * No access token of a connected account can be handed out. The `cause` of `FAILED_TO_EXCHANGE_REFRESH_TOKEN` is an
 * `OAuthError` or a `DiscoveryError`.
 */
export class AccessTokenForConnectionError extends IdpError<AccessTokenForConnectionErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'AccessTokenForConnectionError'
  declare readonly name: 'AccessTokenForConnectionError'
}
