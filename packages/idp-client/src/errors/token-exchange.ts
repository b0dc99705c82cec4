import { IdpError } from './base.ts'

export type CustomTokenExchangeErrorCode =
  | 'MISSING_SUBJECT_TOKEN'
  | 'INVALID_SUBJECT_TOKEN_TYPE'
  | 'MISSING_ACTOR_TOKEN'
  | 'MISSING_ACTOR_TOKEN_TYPE'
  | 'INVALID_ACTOR_TOKEN_TYPE'
  | 'RESERVED_PARAMETER'
  | 'EXCHANGE_FAILED'

/** The codes of `CustomTokenExchangeError`, each under its own name. */
export const CustomTokenExchangeErrorCode: { readonly [Name in CustomTokenExchangeErrorCode]: Name } = {
  MISSING_SUBJECT_TOKEN: 'MISSING_SUBJECT_TOKEN',
  INVALID_SUBJECT_TOKEN_TYPE: 'INVALID_SUBJECT_TOKEN_TYPE',
  MISSING_ACTOR_TOKEN: 'MISSING_ACTOR_TOKEN',
  MISSING_ACTOR_TOKEN_TYPE: 'MISSING_ACTOR_TOKEN_TYPE',
  INVALID_ACTOR_TOKEN_TYPE: 'INVALID_ACTOR_TOKEN_TYPE',
  RESERVED_PARAMETER: 'RESERVED_PARAMETER',
  EXCHANGE_FAILED: 'EXCHANGE_FAILED',
}

/**
 * A token was not exchanged (RFC 8693). All codes but `EXCHANGE_FAILED` are about the options, and nothing was sent; the
 * `cause` of `EXCHANGE_FAILED` is an `OAuthError` or a `DiscoveryError`.
 */
export class CustomTokenExchangeError extends IdpError<CustomTokenExchangeErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'CustomTokenExchangeError'
  declare readonly name: 'CustomTokenExchangeError'
}
