import type { Code } from './code.ts'
import { codes } from './codes.ts'
import type { Remedy } from './remedy.ts'

const brandKey = Symbol.for('idp-client.error')

export interface IdpErrorOptions {
  cause?: unknown
  /** Further text of our own, never input: names of options, fields, parameters. */
  detail?: string
  /** A more specific remedy than that of the code. */
  remedy?: Remedy
}

/** For a class of the library the brand decides, which every copy writes alike; for a subclass its prototype chain. */
function isInstance(errorClass: typeof IdpError, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(errorClass, value)) return true
  if (!Object.hasOwn(errorClass, 'errorBrand') || !isIdpError(value)) return false
  return errorClass.errorBrand === 'IdpError' || Reflect.get(value, brandKey) === errorClass.errorBrand
}

/**
 * The base class of all errors of this library, and the class of errors without a class of their own. `instanceof` works
 * across several copies of the package in one process, and for the errors of the browser helpers. Messages never contain
 * tokens, codes, cookies or text of a request; where the `cause` is an error of this library, its message follows.
 */
export class IdpError<C extends Code = Code> extends Error {
  /** @internal Brand of the instances. Each class of the library has its own, which its subclasses inherit. */
  static readonly errorBrand: string = 'IdpError'

  /** A method, not a field: bundlers may turn a field into an assignment, which fails for this read-only property. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class on the right of `instanceof`, which may be a subclass.
    return isInstance(this, value)
  }

  override readonly name: string
  readonly code: C
  /** The remedy: names a row of the troubleshooting guide; the code itself if there is no more specific one. */
  readonly remedy: Remedy

  constructor(code: C, options: IdpErrorOptions = {}) {
    const { cause, detail, remedy } = options
    const inner = isIdpError(cause) ? cause : undefined
    const reason = detail ?? inner?.message
    const { message } = codes[code]
    super(reason ? `${message} ${reason}` : message, 'cause' in options ? { cause } : undefined)
    const { errorBrand } = new.target
    this.name = errorBrand
    this.code = code
    this.remedy = remedy ?? (inner && inner.remedy !== inner.code ? inner.remedy : undefined) ?? code
    Object.defineProperty(this, brandKey, { value: errorBrand })
  }
}

/** Whether `error` comes from this library (any copy of it), optionally with this code. */
export function isIdpError<C extends Code>(error: unknown, code?: C): error is IdpError<C> {
  if (typeof error !== 'object' || error === null || !(brandKey in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
