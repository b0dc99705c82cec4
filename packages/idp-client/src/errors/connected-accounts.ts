import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'

export type ConnectAccountErrorCode =
  | 'MISSING_SESSION'
  | 'MISSING_CONNECTION'
  | 'FAILED_TO_INITIATE'
  | 'FAILED_TO_COMPLETE'

/** The codes of `ConnectAccountError`, each under its own name. */
export const ConnectAccountErrorCode: { readonly [Name in ConnectAccountErrorCode]: Name } = {
  MISSING_SESSION: 'MISSING_SESSION',
  MISSING_CONNECTION: 'MISSING_CONNECTION',
  FAILED_TO_INITIATE: 'FAILED_TO_INITIATE',
  FAILED_TO_COMPLETE: 'FAILED_TO_COMPLETE',
}

/** No account was connected. The `cause` is an `AccountApiError`, an `AccessTokenError`, an `OAuthError` or a `DiscoveryError`. */
export class ConnectAccountError extends IdpError<ConnectAccountErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'ConnectAccountError'
  declare readonly name: 'ConnectAccountError'
}

export type ConnectedAccountsErrorCode = 'MISSING_SESSION' | 'FAILED_TO_LIST' | 'FAILED_TO_DELETE'

/** The connected accounts could not be listed, or one not be disconnected. The `cause` is as in `ConnectAccountError`. */
export class ConnectedAccountsError extends IdpError<ConnectedAccountsErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'ConnectedAccountsError'
  declare readonly name: 'ConnectedAccountsError'
}

export interface AccountApiFailure {
  readonly status: number
  readonly type?: string
  readonly title?: string
  readonly detail?: string
  readonly validationErrors?: readonly AccountApiValidationError[]
}

/** One entry of `validation_errors`; text of the provider. */
export interface AccountApiValidationError {
  readonly field?: string
  readonly detail?: string
  readonly pointer?: string
  readonly source?: string
}

/** The provider's account API said no; usually the `cause` of another error. */
export class AccountApiError extends IdpError<'MY_ACCOUNT_API_ERROR'> {
  /** @internal */
  static override readonly errorBrand = 'AccountApiError'
  declare readonly name: 'AccountApiError'
  readonly endpoint = 'account'
  /** HTTP status of the answer. */
  readonly status: number
  /** This and the following are members of problem JSON (RFC 9457) as the provider wrote them: untrusted text. */
  readonly type: string | undefined
  readonly title: string | undefined
  readonly detail: string | undefined
  readonly validationErrors: readonly AccountApiValidationError[] | undefined

  constructor(failure: AccountApiFailure, options: Pick<IdpErrorOptions, 'cause'> = {}) {
    super('MY_ACCOUNT_API_ERROR', options)
    this.status = failure.status
    this.type = failure.type
    this.title = failure.title
    this.detail = failure.detail
    this.validationErrors = failure.validationErrors
  }
}
