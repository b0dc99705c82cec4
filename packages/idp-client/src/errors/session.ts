import type { IdpErrorOptions } from './base.ts'
import { IdpError } from './base.ts'

export interface SessionTooLarge {
  /** Bytes of all session cookies together, names and attributes not counted. */
  bytes: number
  /** JSON bytes per field of the session, the largest first. */
  fields: Readonly<Record<string, number>>
}

/** The session could not be stored. */
export class SessionStoreError extends IdpError<'SESSION_TOO_LARGE'> {
  override readonly name = 'SessionStoreError'
  readonly bytes: number
  readonly fields: Readonly<Record<string, number>>

  constructor(code: 'SESSION_TOO_LARGE', options: IdpErrorOptions & SessionTooLarge) {
    super(code, options)
    this.bytes = options.bytes
    this.fields = options.fields
  }
}
