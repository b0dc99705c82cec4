import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'

export type LogoutTokenErrorCode = CodesOf<'LogoutTokenError'>

/**
 * A logout token of the provider was rejected. Occurs only on the back-channel logout route; the message names the
 * failed check.
 */
export class LogoutTokenError extends IdpError<LogoutTokenErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'LogoutTokenError'
  declare readonly name: 'LogoutTokenError'
}
