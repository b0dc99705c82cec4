/**
 * Arguments and results of `idp.mfa` and the browser's `mfa`. The `mfaToken` is always the encrypted `mfa_token` of an
 * `MfaRequiredError`.
 */

/** Options of `getAuthenticators`. */
export interface MfaAuthenticatorsOptions {
  mfaToken: string
}

/** A factor that the user has enrolled. */
export interface Authenticator {
  id: string
  /** `otp`, `oob` or `recovery-code`. */
  authenticatorType: string
  /** The type in the provider's requirements, if it names one: `otp`, `phone`, `email`, `push-notification` … */
  type?: string
  /** False until the enrolment was completed with a first verification. */
  active: boolean
  name?: string
  /** As far as the provider shows it. */
  phoneNumber?: string
  /** How an out-of-band factor is reached: `sms`, `voice`, `email`, `push`. */
  oobChannel?: string
  /** ISO 8601, like the next one. */
  createdAt?: string
  lastAuthenticatedAt?: string
}

/** Options of `challenge`. */
export interface MfaChallengeOptions {
  mfaToken: string
  /** `oob` sends something to the user; `otp` only checks that a code of an authenticator app is accepted. */
  challengeType: 'otp' | 'oob'
  /** Which of several factors; default: the provider's choice. */
  authenticatorId?: string | undefined
}

export interface MfaChallengeResult {
  challengeType: string
  /** For `verify`. */
  oobCode?: string
  /** `prompt`: the user gets a code that `verify` needs as `bindingCode`. Absent: the user approves on the device. */
  bindingMethod?: string
}

export type MfaOobChannel = 'sms' | 'voice' | 'email' | 'push'

/** Enrols an authenticator app. */
export interface MfaEnrollOtpOptions {
  mfaToken: string
  authenticatorTypes: readonly ['otp']
}

/** Enrols a phone, an e-mail address or an app that gets notifications. */
export interface MfaEnrollOobOptions {
  mfaToken: string
  authenticatorTypes: readonly ['oob']
  oobChannels: readonly MfaOobChannel[]
  /** E.164, for example `+14155550100`; needed for `sms` and `voice`. */
  phoneNumber?: string | undefined
  /** Default: the user's address at the provider. */
  email?: string | undefined
}

/** The same in one word. */
export interface MfaEnrollFactorOptions {
  mfaToken: string
  factorType: 'otp' | MfaOobChannel
  /** E.164; needed for `sms` and `voice`. */
  phoneNumber?: string | undefined
  email?: string | undefined
}

/** Options of `enroll`. */
export type MfaEnrollOptions = MfaEnrollOtpOptions | MfaEnrollOobOptions | MfaEnrollFactorOptions

/** An authenticator app that is to be set up: show the code, then verify what the app shows. */
export interface MfaOtpEnrollment {
  authenticatorType: 'otp'
  id?: string
  /** Base32, for users who cannot scan the QR code. */
  secret: string
  /** `otpauth://` URI, to be shown as a QR code. */
  barcodeUri: string
  /** To be shown once; with the first factor only. */
  recoveryCodes?: string[]
}

/** A factor on another channel that is to be confirmed with `verify`. */
export interface MfaOobEnrollment {
  authenticatorType: 'oob'
  id?: string
  oobChannel: string
  name?: string
  /** For `verify`. */
  oobCode?: string
  /** `prompt`: `verify` needs the `bindingCode` that the user gets. */
  bindingMethod?: string
  /** To be shown as a QR code, for an app that gets notifications. */
  barcodeUri?: string
  /** To be shown once; with the first factor only. */
  recoveryCodes?: string[]
}

export type MfaEnrollment = MfaOtpEnrollment | MfaOobEnrollment

/** The code of an authenticator app. */
export interface MfaVerifyOtpOptions {
  mfaToken: string
  otp: string
}

/** The code or approval that `challenge` or `enroll` requested. */
export interface MfaVerifyOobOptions {
  mfaToken: string
  oobCode: string
  /** The code that the user received; only with `bindingMethod` `prompt`. */
  bindingCode?: string | undefined
}

/** A recovery code, for a lost device. It can be used once; the response has a new one. */
export interface MfaVerifyRecoveryCodeOptions {
  mfaToken: string
  recoveryCode: string
}

/** Options of `verify`. */
export type MfaVerifyOptions = MfaVerifyOtpOptions | MfaVerifyOobOptions | MfaVerifyRecoveryCodeOptions

/** The result of `verify` in the browser, and on the server for a token of the session: its tokens are in the session. */
export interface MfaVerified {
  success: true
  /** To be shown once: it replaces the recovery code that was used. */
  recovery_code?: string
}
