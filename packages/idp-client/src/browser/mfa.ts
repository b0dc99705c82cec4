import type {
  Authenticator,
  MfaAuthenticatorsOptions,
  MfaChallengeOptions,
  MfaChallengeResult,
  MfaEnrollment,
  MfaEnrollOptions,
  MfaVerified,
  MfaVerifyOptions,
} from '../config/mfa.ts'
import { requests } from './on-demand.ts'
import type { AccessTokenResponse } from './token-cache.ts'

export interface ChallengeWithPopupOptions {
  /** API that the token is for. */
  readonly audience: string
  /** Required scope of the token, space-delimited; added to the configured one. */
  readonly scope?: string | undefined
  /** Requested authentication context classes. Default: multi-factor, as defined by OpenID PAPE. */
  readonly acr_values?: string | undefined
  /** `prompt` of the authorization request; default: none. */
  readonly prompt?: string | undefined
  /** Path to continue at if the popup cannot close itself; default `signInReturnToPath`. */
  readonly returnTo?: string | undefined
  /** Milliseconds after which the popup times out, checked every 500; default 60000. */
  readonly timeout?: number | undefined
  /** Pixels; default 400. */
  readonly popupWidth?: number | undefined
  /** Pixels; default 600. */
  readonly popupHeight?: number | undefined
}

/**
 * Multi-factor authentication from the browser, through the MFA routes and the session cookie. Every function rejects
 * with an error that `isIdpError` recognizes: `MfaRequiredError` (`MFA_REQUIRED`) if another factor is required,
 * `MfaError` for errors of the routes (`MFA_TOKEN_EXPIRED`, `MFA_VERIFY_ERROR` …) and of popups, `REQUEST_FAILED` if
 * the application's server could not be reached. The implementation is loaded on first use.
 */
export interface BrowserMfa {
  /** Returns the factors that the user has enrolled. */
  getAuthenticators(options: MfaAuthenticatorsOptions): Promise<Authenticator[]>
  /** Makes the provider send a code or a notification, or confirm that the code of an authenticator app is accepted. */
  challenge(options: MfaChallengeOptions): Promise<MfaChallengeResult>
  /** Starts the enrolment of a factor, which its first verification completes. */
  enroll(options: MfaEnrollOptions): Promise<MfaEnrollment>
  /** Verifies the factor: the tokens are stored in the session, and the next `getAccessToken` returns one. */
  verify(options: MfaVerifyOptions): Promise<MfaVerified>
  /**
   * Verifies a factor at the provider, in a popup window: logs in again with a second factor and returns the token for
   * the audience. Call it in a click handler, or browsers block the window. Rejects with an `MfaError`:
   * `POPUP_BLOCKED`, `POPUP_CANCELLED` (closed by the user), `POPUP_TIMEOUT`, `POPUP_IN_PROGRESS` (one at a time),
   * `POPUP_USER_MISMATCH` (another user than that of the session or of the page), `INVALID_EXECUTION_CONTEXT` (not in a
   * browser), or with the code of the failed login.
   */
  challengeWithPopup(options: ChallengeWithPopupOptions): Promise<AccessTokenResponse>
}

let isBusy = false

async function challengeWithPopup(options: ChallengeWithPopupOptions): Promise<AccessTokenResponse> {
  const { popupWidth = 400, popupHeight = 600 } = options
  const mine = typeof window !== 'undefined' && !isBusy
  // Opened before the first `await`, or browsers would not see the user's click as its cause.
  const popup = mine ? window.open('', '', `popup,width=${popupWidth},height=${popupHeight}`) : undefined
  isBusy ||= mine
  try {
    return await (await requests()).completeChallenge(options, popup)
  } finally {
    popup?.close()
    if (mine) isBusy = false
  }
}

export const mfa: BrowserMfa = {
  getAuthenticators: async (options) => (await requests()).getAuthenticators(options),
  challenge: async (options) => (await requests()).challenge(options),
  enroll: async (options) => (await requests()).enroll(options),
  verify: async (options) => (await requests()).verify(options),
  challengeWithPopup,
}
