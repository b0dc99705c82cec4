import type { Code } from './codes.ts'
import { codes } from './codes.ts'

const brand = Symbol.for('idp-client.error')

export interface IdpErrorOptions {
  cause?: unknown
  /** Further text of our own, never input: names of options, fields, parameters. */
  detail?: string
}

/**
 * Base of every error of this library. Recognise it with `isIdpError`, not with `instanceof`: a process may hold two
 * copies of the package. Messages never contain tokens, codes, cookies or text from outside.
 */
export class IdpError<C extends Code = Code> extends Error {
  override readonly name: string = 'IdpError'
  readonly code: C

  constructor(code: C, options: IdpErrorOptions = {}) {
    const { message } = codes[code]
    super(
      options.detail ? `${message} ${options.detail}` : message,
      'cause' in options ? { cause: options.cause } : undefined,
    )
    this.code = code
    Object.defineProperty(this, brand, { value: true })
  }
}

/** Whether `error` comes from this library (any copy of it), optionally with this code. */
export function isIdpError<C extends Code>(error: unknown, code?: C): error is IdpError<C> {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
