import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'

export type CallbackErrorCode = CodesOf<'CallbackError'>

/** The hooks of the application that run during a login. */
export type HookName = 'onCallback' | 'beforeSessionSaved'

export interface CallbackErrorOptions extends IdpErrorOptions {
  hook?: HookName
}

/** A login attempt failed. It reaches `onCallback` as `context.error`. With `HOOK_FAILED`, `hook` names the hook. */
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
