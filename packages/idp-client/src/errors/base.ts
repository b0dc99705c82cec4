import { isDevelopment, readNodeEnv } from '../lib/node-env.ts'
import { toAdvice } from './advice.ts'
import type { Code } from './code.ts'
import { codes } from './codes.ts'
import type { Remedy } from './remedy.ts'

const brandKey = Symbol.for('idp-client.error')
const inspectKey = Symbol.for('nodejs.util.inspect.custom')

export interface IdpErrorOptions {
  cause?: unknown
  /** Further text of our own: names and values of options, facts about the network. Users do not see it. */
  detail?: string
  /** A more specific remedy than that of the code. */
  remedy?: Remedy
  /** 502, 503 or 504 while the provider is down; otherwise that of the `cause`. */
  status?: number | undefined
  /** @internal The message always contains the detail: the error is thrown while the application starts. */
  atConstruction?: boolean
}

/** For a class of the library the brand decides, which every copy writes alike; for a subclass its prototype chain. */
function isInstance(errorClass: typeof IdpError, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(errorClass, value)) return true
  if (!Object.hasOwn(errorClass, 'errorBrand') || !isIdpError(value)) return false
  return errorClass.errorBrand === 'IdpError' || Reflect.get(value, brandKey) === errorClass.errorBrand
}

interface MessageParts extends IdpErrorOptions {
  readonly code: Code
  readonly remedy: Remedy
  /** The cause, if it is an error of this library. */
  readonly inner: IdpError | undefined
}

/**
 * Frameworks show messages to users. In production they consist of constant sentences: that of the code, its fix unless the
 * cause has the same, and those of the cause. Facts follow in development only.
 */
function toMessage({ atConstruction, code, detail, inner, remedy }: MessageParts): string {
  const fix = remedy === inner?.remedy ? undefined : toAdvice(remedy, code).advice
  const facts = atConstruction || isDevelopment(readNodeEnv()) ? detail : undefined
  return [codes[code].message, fix, inner?.message, facts].filter(Boolean).join(' ')
}

/**
 * Defines properties of an error that may contain configuration, facts about the network, or text of the provider. They are
 * on a prototype of this error alone, since some serializers (seroval in SolidStart) send all own properties of a thrown error
 * to browsers, enumerable or not. `inspect` and `console` of Node.js show them.
 */
export function defineFacts(error: IdpError, facts: Readonly<Record<string, unknown>>): void {
  const descriptors = Object.entries(facts).map(([name, value]) => [name, { value, writable: true }])
  const prototype: object = Object.create(Object.getPrototypeOf(error), Object.fromEntries(descriptors))
  Object.setPrototypeOf(error, prototype)
}

const hiddenByInspect: ReadonlySet<string> = new Set(['message', 'stack', 'cause'])

/** Inspects a copy of the error that has its facts as enumerable properties. */
function inspectError(
  this: IdpError,
  _depth: number,
  options: object,
  inspect: (value: unknown, options: object) => string,
): string {
  const copy: object = Reflect.construct(Error, [], this.constructor)
  for (let layer: object = this; !Object.hasOwn(layer, 'constructor'); layer = Object.getPrototypeOf(layer)) {
    for (const name of Object.getOwnPropertyNames(layer)) {
      const value: unknown = Reflect.get(this, name)
      const enumerable = value !== undefined && !hiddenByInspect.has(name)
      Object.defineProperty(copy, name, { value, enumerable, configurable: true })
    }
  }
  return inspect(copy, options)
}

/**
 * The base class of all errors of this library, and the class of errors without a class of their own. `instanceof` works
 * across several copies of the package in one process, and for the errors of the browser helpers.
 *
 * The `message` consists of constant sentences, what happened and its fix, followed by those of a `cause` of this library.
 * With `NODE_ENV` `development` or `test` it also has the facts, which `detail` and the log always have. It never contains
 * tokens, codes, cookies or text of a request.
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
  /**
   * 502, 503 or 504 if the provider is down, which Express, Koa and Fastify use for their response; otherwise there is no
   * such property. The status of the provider's response is `providerStatus`.
   */
  declare readonly status?: number
  /** The facts: options, values, addresses. For logs, not for users; not enumerable. */
  declare readonly detail?: string | undefined

  constructor(code: C, options: IdpErrorOptions = {}) {
    const { cause, detail } = options
    const inner = isIdpError(cause) ? cause : undefined
    const remedy = options.remedy ?? (inner && inner.remedy !== inner.code ? inner.remedy : undefined) ?? code
    super(toMessage({ ...options, code, inner, remedy }))
    const { errorBrand } = new.target
    this.name = errorBrand
    this.code = code
    this.remedy = remedy
    const status = options.status ?? inner?.status
    if (status !== undefined) this.status = status
    defineFacts(this, 'cause' in options ? { detail, cause } : { detail })
    Object.defineProperties(this, {
      [brandKey]: { value: errorBrand },
      [inspectKey]: { value: inspectError },
    })
  }
}

/** Whether `error` comes from this library (any copy of it), optionally with this code. */
export function isIdpError<C extends Code>(error: unknown, code?: C): error is IdpError<C> {
  if (typeof error !== 'object' || error === null || !(brandKey in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}
