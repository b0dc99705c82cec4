import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'

export type CallbackErrorCode =
  | 'MISSING_STATE'
  | 'UNKNOWN_STATE'
  | 'EXPIRED_STATE'
  | 'REPLAYED_STATE'
  | 'STATE_HOST_MISMATCH'
  | 'SUPERSEDED_STATE'
  | 'POPUP_USER_MISMATCH'
  | 'INVALID_CALLBACK'
  | 'ISSUER_MISMATCH'
  | 'AUTHORIZATION_ERROR'
  | 'AUTHORIZATION_REQUEST_ERROR'
  | 'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR'
  | 'AUTHORIZATION_CODE_GRANT_ERROR'
  | 'USERINFO_ERROR'
  | 'HOOK_FAILED'

/** The hooks of the application that run during a login. */
export type HookName = 'onCallback' | 'beforeSessionSaved'

export interface CallbackErrorOptions extends IdpErrorOptions {
  hook?: HookName
}

/** A login attempt failed; reaches `onCallback` as `context.error`. */
export class CallbackError extends IdpError<CallbackErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'CallbackError'
  declare readonly name: 'CallbackError'
  /** With `HOOK_FAILED`: which one. The `cause` is what it threw, if it did. */
  readonly hook: HookName | undefined

  constructor(code: CallbackErrorCode, options: CallbackErrorOptions = {}) {
    super(code, options)
    this.hook = options.hook
  }
}
