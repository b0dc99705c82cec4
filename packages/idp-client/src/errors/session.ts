import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'

export type SessionStoreErrorCode = 'SESSION_TOO_LARGE' | 'SESSION_STORE_FAILED' | 'SESSION_STORE_INCAPABLE'

/** The codes of `SessionStoreError`, each under its own name. */
export const SessionStoreErrorCode: { readonly [Name in SessionStoreErrorCode]: Name } = {
  SESSION_TOO_LARGE: 'SESSION_TOO_LARGE',
  SESSION_STORE_FAILED: 'SESSION_STORE_FAILED',
  SESSION_STORE_INCAPABLE: 'SESSION_STORE_INCAPABLE',
}

export interface SessionTooLarge {
  /** Bytes of all session cookies together, names and attributes not counted. */
  bytes: number
  /** JSON bytes per field of the session, the largest first. */
  fields: Readonly<Record<string, number>>
}

/**
 * The session could not be stored or read. The `cause` of `SESSION_STORE_FAILED` is the store's own error; that nobody
 * could look says nothing about whether the user is signed in.
 */
export class SessionStoreError extends IdpError<SessionStoreErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'SessionStoreError'
  declare readonly name: 'SessionStoreError'
  /** With `SESSION_TOO_LARGE`, see there; else 0. */
  readonly bytes: number
  /** With `SESSION_TOO_LARGE`, see there; else empty. */
  readonly fields: Readonly<Record<string, number>>

  constructor(code: SessionStoreErrorCode, options: IdpErrorOptions & Partial<SessionTooLarge> = {}) {
    super(code, options)
    this.bytes = options.bytes ?? 0
    this.fields = options.fields ?? {}
  }
}
