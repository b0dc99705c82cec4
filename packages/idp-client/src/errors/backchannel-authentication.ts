import { IdpError } from './base.ts'

export type BackchannelAuthenticationErrorCode =
  | 'INVALID_BACKCHANNEL_REQUEST'
  | 'BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR'
  | 'BACKCHANNEL_AUTHENTICATION_ERROR'
  | 'BACKCHANNEL_AUTHENTICATION_ABORTED'

/** The codes of `BackchannelAuthenticationError`, each under its own name. */
export const BackchannelAuthenticationErrorCode: {
  readonly [Name in BackchannelAuthenticationErrorCode]: Name
} = {
  INVALID_BACKCHANNEL_REQUEST: 'INVALID_BACKCHANNEL_REQUEST',
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR: 'BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR',
  BACKCHANNEL_AUTHENTICATION_ERROR: 'BACKCHANNEL_AUTHENTICATION_ERROR',
  BACKCHANNEL_AUTHENTICATION_ABORTED: 'BACKCHANNEL_AUTHENTICATION_ABORTED',
}

/**
 * `getTokenByBackchannelAuth` brought no tokens. The `cause` of `BACKCHANNEL_AUTHENTICATION_ERROR` is an `OAuthError`
 * (its `error` is `access_denied` when the user refused, `expired_token` when the time was up) or a `DiscoveryError`.
 */
export class BackchannelAuthenticationError extends IdpError<BackchannelAuthenticationErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'BackchannelAuthenticationError'
  declare readonly name: 'BackchannelAuthenticationError'
}
