import type { IdpErrorOptions } from './base.ts'
import { defineFacts, IdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { toCodeNames } from './code.ts'

export type SessionStoreErrorCode = CodesOf<'SessionStoreError'>

/** The codes of `SessionStoreError`, each under its own name. */
export const SessionStoreErrorCode: { readonly [Name in SessionStoreErrorCode]: Name } =
  /* @__PURE__ */ toCodeNames('SessionStoreError')

/** The operation of the store that failed. */
export type StoreOperation =
  | 'get'
  | 'set'
  | 'delete'
  | 'update'
  | 'lock'
  | 'list'
  | 'logout'
  | 'once'
  | 'endedAt'

export interface StoreFailure {
  operation: StoreOperation
  /** How the driver names its failure: a code as `ECONNREFUSED` or `42P01`, else the class of the error. */
  reason?: string
}

export interface SessionTooLarge {
  /** Bytes of the cookies that do not fit, names and separators included, attributes not. */
  bytes: number
  /** JSON bytes per field of the session, the largest first. Empty if the cookie of a login does not fit beside it. */
  fields: Readonly<Record<string, number>>
}

/* Names of claims: words and namespaces of limited length, never an address or a token. */
const FIELD = /^(?=.{1,80}$)[A-Za-z][A-Za-z0-9]{0,23}(?:[_.:/-]{1,3}[A-Za-z0-9]{1,24})*\/?$/

/** The name of a field as messages and events repeat it. */
export function fieldName(name: string): string {
  return FIELD.test(name) ? name : 'other'
}

/**
 * The session could not be stored or read. With `SESSION_TOO_LARGE` it has `bytes` and `fields`, the sizes; with
 * `SESSION_STORE_FAILED`, `operation` and `reason`, and the `cause` is the error of the store, which may quote
 * session data: do not log it.
 */
export class SessionStoreError extends IdpError<SessionStoreErrorCode> {
  /** @internal */
  static override readonly errorBrand = 'SessionStoreError'
  declare readonly name: 'SessionStoreError'
  /** With `SESSION_TOO_LARGE`, see there; else 0. */
  readonly bytes: number
  /** With `SESSION_TOO_LARGE`, see there; else empty. Not enumerable. */
  declare readonly fields: Readonly<Record<string, number>>
  /** With `SESSION_STORE_FAILED`: the operation. */
  readonly operation: StoreOperation | undefined
  /** With `SESSION_STORE_FAILED`: how the driver names the failure. Not enumerable. */
  declare readonly reason: string | undefined

  constructor(
    code: SessionStoreErrorCode,
    options: IdpErrorOptions & Partial<SessionTooLarge & StoreFailure> = {},
  ) {
    super(code, options)
    this.bytes = options.bytes ?? 0
    this.operation = options.operation
    defineFacts(this, { fields: options.fields ?? {}, reason: options.reason })
  }
}
