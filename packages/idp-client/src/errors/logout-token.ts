import { IdpError } from './base.ts'

export type LogoutTokenErrorCode =
  | 'BACKCHANNEL_LOGOUT_ERROR'
  | 'LOGOUT_TOKEN_REPLAYED'
  | 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED'

/** A back-channel logout notification that is not processed (OIDC Back-Channel Logout 1.0). */
export class LogoutTokenError extends IdpError<LogoutTokenErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'LogoutTokenError'
  declare readonly name: 'LogoutTokenError'
}
