import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

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
