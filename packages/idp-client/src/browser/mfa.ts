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
  /** Scope that the token must have, space-delimited; the configured one is added. */
  readonly scope?: string | undefined
  /** Which kind of authentication is wanted. Default: multi-factor, as OpenID PAPE names it. */
  readonly acr_values?: string | undefined
  /** `prompt` of the authorization request; default: none. */
  readonly prompt?: string | undefined
  /** Where the popup leads on if it cannot close itself; default `signInReturnToPath`. */
  readonly returnTo?: string | undefined
  /** Milliseconds after which the popup is given up, at the next look at it (every 500); default 60000. */
  readonly timeout?: number | undefined
  /** Pixels; default 400. */
  readonly popupWidth?: number | undefined
  /** Pixels; default 600. */
  readonly popupHeight?: number | undefined
}

/**
 * Multi-factor authentication from the browser, by the MFA routes and the session cookie. Every function rejects with an
 * error that `isIdpError` recognises: `MfaRequiredError` (`MFA_REQUIRED`) when yet another factor is demanded, `MfaError`
 * for what the routes report (`MFA_TOKEN_EXPIRED`, `MFA_VERIFY_ERROR` …) and for popups, `REQUEST_FAILED` when the
 * application's server was not reached. The code behind it is loaded when first used.
 */
export interface BrowserMfa {
  /** The factors that the user has enrolled. */
  getAuthenticators(options: MfaAuthenticatorsOptions): Promise<Authenticator[]>
  /** Has the provider send a code or a notification, or say that a code of an authenticator app will do. */
  challenge(options: MfaChallengeOptions): Promise<MfaChallengeResult>
  /** Begins the enrolment of a factor, which its first verification completes. */
  enroll(options: MfaEnrollOptions): Promise<MfaEnrollment>
  /** Completes it: the tokens go to the session, and the next `getAccessToken` gives one. */
  verify(options: MfaVerifyOptions): Promise<MfaVerified>
  /**
   * The same at the provider, in a popup window: logs in again with a second factor and returns the token for the
   * audience. Call it in the handler of a click, or browsers block the window. Rejects with an `MfaError`:
   * `POPUP_BLOCKED`, `POPUP_CANCELLED` (closed by the user), `POPUP_TIMEOUT`, `POPUP_IN_PROGRESS` (one at a time),
   * `POPUP_USER_MISMATCH` (than the session has, or the page shows), `INVALID_EXECUTION_CONTEXT` (not in a browser), else
   * with the code of the failed login.
   */
  challengeWithPopup(options: ChallengeWithPopupOptions): Promise<AccessTokenResponse>
}

let isBusy = false

async function challengeWithPopup(options: ChallengeWithPopupOptions): Promise<AccessTokenResponse> {
  const { popupWidth = 400, popupHeight = 600 } = options
  const mine = typeof window !== 'undefined' && !isBusy
  // Opened before anything is awaited, or browsers would not see that the user asked for it.
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
