import type { IdpError } from '../errors/base.ts'
import type { SessionData } from '../session/model/session-data.ts'

/**
 * Runs before a session is saved at login, connect, refresh and MFA verification (not when use is recorded, not on
 * `updateSession`), always with all claims of the ID token in `session.user`. What it returns is saved, except
 * `internal`, which cannot be changed. Without this hook the protocol's own claims are removed from `user`.
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
  /** The new session with all ID-token claims, not yet saved; null when the attempt failed. */
  session: SessionData | null
  /** The callback request as this host knows it. */
  request: unknown
  /** Present when the attempt failed. */
  error?: IdpError
  /** Same-origin path to go to; recovered from the state where the transaction is lost, absent where nothing is known. */
  returnTo?: string
  responseType?: 'code' | 'connect_code'
  /** `popup`: the response is a page that posts the outcome to the window that opened the popup. */
  challengeMode?: 'redirect' | 'popup'
  appBaseUrl?: string
  connectedAccount?: ConnectedAccount
}

export interface OnCallbackAnswer {
  /** Another same-origin target. */
  returnTo?: string
  /**
   * For a login in a popup: the nonce by which the script of its page may run, where the application puts a
   * `Content-Security-Policy` of its own on that page. Base64 alphabet. Default: a random one, in our policy.
   */
  cspNonce?: string
}

/** The return value of the hook: nothing (default response), changes of it, or a complete response. */
export type OnCallbackResult = OnCallbackAnswer | Response | undefined

/** The return value of the hook `onCallback`: a result, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: the contract allows a hook without a return statement
export type OnCallbackReturn = OnCallbackResult | void

/**
 * Runs after every login attempt, also a failed one; once more, with `error`, when the session that it was told of could
 * then not be saved (`beforeSessionSaved` threw, the store rejected). Throwing, or a `Response` with status 400 or more,
 * means that no session is written.
 */
export type OnCallbackHook = (context: OnCallbackContext) => OnCallbackReturn | Promise<OnCallbackReturn>
