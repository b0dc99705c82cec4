import type { IdpErrorOptions } from './base.ts'
import { defineFacts, IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'
import { toUpstreamStatus } from './provider.ts'

export type ConnectAccountErrorCode = CodesOf<'ConnectAccountError'>

/** The codes of `ConnectAccountError`, each under its own name. */
export const ConnectAccountErrorCode: { readonly [Name in ConnectAccountErrorCode]: Name } =
  /* @__PURE__ */ toCodeNames('ConnectAccountError')

/**
 * The account was not connected. The `cause` of `FAILED_TO_INITIATE` and `FAILED_TO_COMPLETE` is an
 * `AccountApiError`, an `AccessTokenError`, an `OAuthError` or a `DiscoveryError`.
 */
export class ConnectAccountError extends IdpError<ConnectAccountErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'ConnectAccountError'
  declare readonly name: 'ConnectAccountError'
}

export type ConnectedAccountsErrorCode = CodesOf<'ConnectedAccountsError'>

/**
 * The connected accounts could not be listed, or one could not be disconnected. The `cause` is as in
 * `ConnectAccountError`.
 */
export class ConnectedAccountsError extends IdpError<ConnectedAccountsErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'ConnectedAccountsError'
  declare readonly name: 'ConnectedAccountsError'
}

export interface AccountApiFailure {
  readonly providerStatus: number
  readonly type?: string
  readonly title?: string
  readonly detail?: string
  readonly validationErrors?: readonly AccountApiValidationError[]
}

/** An entry of `validation_errors`: untrusted text of the provider. */
export interface AccountApiValidationError {
  readonly field?: string
  readonly detail?: string
  readonly pointer?: string
  readonly source?: string
}

/**
 * The provider's account API rejected a request; the `cause` of `ConnectAccountError` and `ConnectedAccountsError`.
 * It has the `providerStatus` and, as untrusted text of the provider, `type`, `title`, `detail` and `validationErrors`,
 * which are not own properties.
 */
export class AccountApiError extends IdpError<CodesOf<'AccountApiError'>> {
  /** @internal */
  static override readonly errorBrand = 'AccountApiError'
  declare readonly name: 'AccountApiError'
  readonly endpoint = 'account'
  /** HTTP status of the response. */
  readonly providerStatus: number
  /** This and the following are properties of the problem JSON (RFC 9457): untrusted text of the provider. */
  declare readonly type: string | undefined
  declare readonly title: string | undefined
  declare readonly detail: string | undefined
  declare readonly validationErrors: readonly AccountApiValidationError[] | undefined

  constructor(failure: AccountApiFailure, options: Pick<IdpErrorOptions, 'cause'> = {}) {
    const { providerStatus, ...facts } = failure
    super('MY_ACCOUNT_API_ERROR', { ...options, status: toUpstreamStatus(providerStatus) })
    this.providerStatus = providerStatus
    defineFacts(this, facts)
  }
}
