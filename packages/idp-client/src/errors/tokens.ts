import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

/* Errors of the operations that return tokens. */

export type AccessTokenErrorCode = CodesOf<'AccessTokenError'>

/** The codes of `AccessTokenError`, each under its own name. */
export const AccessTokenErrorCode: { readonly [Name in AccessTokenErrorCode]: Name } =
  /* @__PURE__ */ toCodeNames('AccessTokenError')

/**
 * No access token is available, or the refresh token could not be revoked. The `cause` of `FAILED_TO_REFRESH_TOKEN`
 * and `FAILED_TO_REVOKE` is an `OAuthError` or a `DiscoveryError`; absent if another process has replaced a revoked token.
 */
export class AccessTokenError extends IdpError<AccessTokenErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'AccessTokenError'
  declare readonly name: 'AccessTokenError'
}

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

export type CustomTokenExchangeErrorCode = CodesOf<'CustomTokenExchangeError'>

/** The codes of `CustomTokenExchangeError`, each under its own name. */
export const CustomTokenExchangeErrorCode: { readonly [Name in CustomTokenExchangeErrorCode]: Name } =
  /* @__PURE__ */ toCodeNames('CustomTokenExchangeError')

/**
 * A token was not exchanged (RFC 8693). All codes except `EXCHANGE_FAILED` are about the options; no request was
 * sent. The `cause` of `EXCHANGE_FAILED` is an `OAuthError` or a `DiscoveryError`.
 */
export class CustomTokenExchangeError extends IdpError<CustomTokenExchangeErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'CustomTokenExchangeError'
  declare readonly name: 'CustomTokenExchangeError'
}

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
