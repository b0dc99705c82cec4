import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { codes } from './codes.ts'

/** Which kinds of factors the provider accepts (`challenge`) or lets the user enroll (`enroll`). */
export interface MfaRequirements {
  readonly challenge?: readonly { readonly type: string }[]
  readonly enroll?: readonly { readonly type: string }[]
}

/** Body of a 403 response, and JSON form of the error. */
export interface MfaRequiredBody {
  error: 'mfa_required'
  error_description: string
  mfa_token: string
  mfa_requirements?: MfaRequirements
}

/**
 * The provider requires another factor before it issues the token. It has the encrypted `mfa_token`, valid for
 * `mfaTokenTtl` seconds in the same session, and, if the provider returned them, `mfa_requirements`; the `cause` is
 * the `OAuthError`.
 */
export class MfaRequiredError extends IdpError<CodesOf<'MfaRequiredError'>> {
  /** @internal */
  static override readonly errorBrand = 'MfaRequiredError'
  declare readonly name: 'MfaRequiredError'
  readonly error = 'mfa_required'
  readonly error_description: string
  /** Encrypted; the methods of `idp.mfa` and the MFA routes take it. Empty: the user has to log in again. */
  readonly mfa_token: string
  readonly mfa_requirements?: MfaRequirements

  constructor(
    challenge: { readonly mfaToken: string; readonly requirements?: MfaRequirements },
    options: Pick<IdpErrorOptions, 'cause'> = {},
  ) {
    super('MFA_REQUIRED', options)
    this.error_description = codes.MFA_REQUIRED.message
    this.mfa_token = challenge.mfaToken
    if (challenge.requirements) this.mfa_requirements = challenge.requirements
  }

  toJSON(): MfaRequiredBody {
    const { error, error_description, mfa_requirements, mfa_token } = this
    return { error, error_description, mfa_token, ...(mfa_requirements ? { mfa_requirements } : {}) }
  }
}

export type MfaErrorCode = CodesOf<'MfaError'>

/**
 * A step of a multi-factor authentication failed. If a request was sent to the provider, the `cause` is an
 * `OAuthError` or a `DiscoveryError`. The codes of popups are those of `mfa.challengeWithPopup` in the browser.
 */
export class MfaError extends IdpError<MfaErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'MfaError'
  declare readonly name: 'MfaError'
}
