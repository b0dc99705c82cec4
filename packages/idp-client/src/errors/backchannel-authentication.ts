import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

export type BackchannelAuthenticationErrorCode = CodesOf<'BackchannelAuthenticationError'>

/** The codes of `BackchannelAuthenticationError`, each under its own name. */
export const BackchannelAuthenticationErrorCode: {
  readonly [Name in BackchannelAuthenticationErrorCode]: Name
} = /* @__PURE__ */ toCodeNames('BackchannelAuthenticationError')

/**
 * `getTokenByBackchannelAuth` returned no tokens. The `cause` of `BACKCHANNEL_AUTHENTICATION_ERROR` is an
 * `OAuthError` or a `DiscoveryError`.
 */
export class BackchannelAuthenticationError extends IdpError<BackchannelAuthenticationErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'BackchannelAuthenticationError'
  declare readonly name: 'BackchannelAuthenticationError'
}
