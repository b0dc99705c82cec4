import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'

/** Which kinds of factors the provider accepts (`challenge`) or lets the user enroll (`enroll`). */
export interface MfaRequirements {
  readonly challenge?: readonly { readonly type: string }[]
  readonly enroll?: readonly { readonly type: string }[]
}

export interface MfaDemand {
  /** Encrypted; what the methods of `idp.mfa` and the MFA routes take. Empty: the user has to log in again. */
  readonly mfaToken: string
  readonly requirements?: MfaRequirements
}

/** Body of a 403 answer, and JSON form of the error. */
export interface MfaRequiredBody {
  error: 'mfa_required'
  error_description: string
  mfa_token: string
  mfa_requirements?: MfaRequirements
}

/**
 * The provider demands a further factor before it hands out the token. The context in `mfa_token` is encrypted, bound
 * to the session, and valid for `mfaTokenTtl` seconds. The `cause` is the `OAuthError`.
 */
export class MfaRequiredError extends IdpError<'MFA_REQUIRED'> {
  /** @internal */
  static override readonly errorBrand = 'MfaRequiredError'
  declare readonly name: 'MfaRequiredError'
  readonly error = 'mfa_required'
  readonly error_description: string
  readonly mfa_token: string
  readonly mfa_requirements?: MfaRequirements

  constructor(demand: MfaDemand, options: Pick<IdpErrorOptions, 'cause'> = {}) {
    super('MFA_REQUIRED', options)
    this.error_description = this.message
    this.mfa_token = demand.mfaToken
    if (demand.requirements) this.mfa_requirements = demand.requirements
  }

  toJSON(): MfaRequiredBody {
    const { error, error_description, mfa_requirements, mfa_token } = this
    return { error, error_description, mfa_token, ...(mfa_requirements ? { mfa_requirements } : {}) }
  }
}

export type MfaErrorCode =
  | 'MISSING_SESSION'
  | 'MFA_TOKEN_EXPIRED'
  | 'MFA_TOKEN_INVALID'
  | 'MFA_NO_AVAILABLE_FACTORS'
  | 'MFA_GET_AUTHENTICATORS_ERROR'
  | 'MFA_CHALLENGE_ERROR'
  | 'MFA_ENROLLMENT_ERROR'
  | 'MFA_VERIFY_ERROR'
  | 'POPUP_BLOCKED'
  | 'POPUP_CANCELLED'
  | 'POPUP_TIMEOUT'
  | 'POPUP_IN_PROGRESS'
  | 'INVALID_EXECUTION_CONTEXT'

/**
 * A step of a multi-factor authentication failed. The `cause` is an `OAuthError` or a `DiscoveryError`, if there is one.
 * The codes of popups belong to `mfa.challengeWithPopup` of the browser.
 */
export class MfaError extends IdpError<MfaErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'MfaError'
  declare readonly name: 'MfaError'
}
