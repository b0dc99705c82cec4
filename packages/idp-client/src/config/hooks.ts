import type { IdpError } from '../errors/base.ts'
import type { SessionData } from '../session/model/session-data.ts'

/**
 * Runs before a session is saved at login, connect, refresh and MFA verification, and when a former session is taken over
 * (not when use is recorded, not on `updateSession`), always with all claims of the ID token in `session.user`. The session
 * that it returns is saved, except `internal`, which it cannot change. Without this hook the protocol's own claims are
 * removed from `user`.
 */
export type BeforeSessionSavedHook = (
  session: SessionData,
  idToken?: string,
) => SessionData | Promise<SessionData>

/** A connected account, as the provider reports it. Times are ISO 8601. */
export interface ConnectedAccount {
  id: string
  connection: string
  /** `offline`; absent in some responses. */
  access_type?: string
  scopes: string[]
  created_at?: string
  expires_at?: string
}

export interface OnCallbackContext {
  /** The new session with all claims of the ID token, not saved yet; null if the attempt failed. */
  session: SessionData | null
  /** The request object of the host, such as `req` of Express. */
  request: unknown
  /** Present if the attempt failed. */
  error?: IdpError
  /** Same-origin path to redirect to; from `state` if the transaction is lost, absent if it is in neither. */
  returnTo?: string
  responseType?: 'code' | 'connect_code'
  /** `popup`: the response is a page that posts the outcome to the window that opened the popup. */
  challengeMode?: 'redirect' | 'popup'
  /** The address of the application, see the option `appBaseUrl`. */
  appBaseUrl: string
  connectedAccount?: ConnectedAccount
}

/** Changes of the default response. */
export interface OnCallbackResult {
  /** Another same-origin path to redirect to. */
  returnTo?: string
  /**
   * Nonce of the script in the page of a popup, for applications that set their own `Content-Security-Policy` on that page.
   * Base64 alphabet. Default: a random one, in the policy of the library.
   */
  cspNonce?: string
}

/** The return value of the hook `onCallback`: nothing (default response), changes of it, or a complete response. */
// biome-ignore lint/suspicious/noConfusingVoidType: the contract allows a hook without a return statement
export type OnCallbackReturn = OnCallbackResult | Response | undefined | void

/**
 * Runs at the callback after every login attempt, also a failed one. Runs again with `error` if the session of the first call
 * could not be saved (`beforeSessionSaved` threw, the store failed). If it throws, or returns a `Response` with status 400 or
 * more, no session is saved.
 */
export type OnCallbackHook = (context: OnCallbackContext) => OnCallbackReturn | Promise<OnCallbackReturn>
