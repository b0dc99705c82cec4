import { IdpError } from '../errors/base.ts'
import { isObject, isPlainObject } from '../lib/objects.ts'

/** Arguments of one call of an operation, in any order. */
export interface HostArguments<FrameworkRequest, FrameworkResponse, Options> {
  readonly request: FrameworkRequest | undefined
  readonly response: FrameworkResponse | undefined
  readonly options: Options | undefined
}

type Role = 'request' | 'response' | 'options'

/** Valid orders of arguments, without `undefined`. */
const ORDERS: ReadonlySet<string> = new Set([
  '',
  'options',
  'request',
  'request, options',
  'request, response',
  'request, response, options',
  'options, request',
  'options, request, response',
])

function has(value: object, name: string, type: 'string' | 'function'): boolean {
  return typeof Reflect.get(value, name) === type
}

function getHeaders(value: object): object | null {
  const headers: unknown = Reflect.get(value, 'headers')
  return typeof headers === 'object' ? headers : null
}

/** Recognizes what a framework passes to its handlers instead of a request and a response. */
export interface HostKinds {
  isContext?(value: object): boolean
  isResponse?(value: object): boolean
}

/** Returns whether a value is a request, of the Web or of Node, from any realm. */
function isRequestLike(value: object): boolean {
  return has(value, 'method', 'string') && has(value, 'url', 'string') && getHeaders(value) !== null
}

/**
 * Returns whether cookies can be written to a value: a response of Node, Web headers, or an object with such headers.
 */
function isResponse(value: object): boolean {
  if (has(value, 'setHeader', 'function') || has(value, 'getSetCookie', 'function')) return true
  const headers = getHeaders(value)
  return headers !== null && has(headers, 'get', 'function')
}

/** Describes the type of an argument for a message, never its content. */
function describe(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  if (Array.isArray(value)) return 'array'
  return isPlainObject(value) ? 'object with headers but without method and url' : 'instance of another class'
}

function detectRole(value: unknown, host: HostKinds): Role | null {
  if (!isObject(value)) return null
  if (host.isContext?.(value) || isRequestLike(value)) return 'request'
  if (host.isResponse?.(value) || isResponse(value)) return 'response'
  // No context of another framework, which is an instance of a class, and no incomplete request: it would silently be ignored.
  return isPlainObject(value) && getHeaders(value) === null ? 'options' : null
}

type OptionsListener = (operation: string, options: unknown) => void

/**
 * Reads the arguments of operations, in any calling style. Throws `INVALID_ARGUMENTS` for anything else. Requests and
 * contexts of the host are recognized first: a context may be a plain object. `OptionsOf` has the options by operation.
 */
export class ArgumentReader<FrameworkRequest, FrameworkResponse, OptionsOf = Record<string, unknown>> {
  readonly #host: HostKinds
  readonly #onOptions: OptionsListener

  /** `onOptions` is called with the options of each call, before the operation starts. */
  constructor(host: HostKinds = {}, onOptions: OptionsListener = () => {}) {
    this.#host = host
    this.#onOptions = onOptions
  }

  #read<Options>(
    args: readonly unknown[],
    isSession = false,
  ): HostArguments<FrameworkRequest, FrameworkResponse, Options> | null {
    const found: { [role in Role]?: unknown } = {}
    const order: Role[] = []
    for (const value of args) {
      if (value === undefined) continue
      const detected = detectRole(value, this.#host)
      const role = isSession && detected === null ? 'options' : detected
      if (role === null) return null
      order.push(role)
      found[role] = value
    }
    return ORDERS.has(order.join(', '))
      ? (found as HostArguments<FrameworkRequest, FrameworkResponse, Options>)
      : null
  }

  #refuse(operation: string, forms: string, args: readonly unknown[]): never {
    const roles = args
      .filter((value) => value !== undefined)
      .map((value) => detectRole(value, this.#host) ?? describe(value))
    const detail = `${operation} takes ${forms}, not (${roles.join(', ')}).`
    throw new IdpError('INVALID_ARGUMENTS', { detail })
  }

  /**
   * Reads `(options)`, `(request, options)`, `(request, response, options)` or `(options, request, response)`; each part
   * may be omitted or `undefined`. Options are plain objects that are neither request nor response.
   */
  withOptions<Operation extends keyof OptionsOf & string>(
    operation: Operation,
    args: readonly unknown[],
  ): HostArguments<FrameworkRequest, FrameworkResponse, Partial<OptionsOf[Operation]>> {
    const forms = '(options), (request, response, options) or (options, request, response)'
    const found = this.#read<Partial<OptionsOf[Operation]>>(args) ?? this.#refuse(operation, forms, args)
    this.#onOptions(operation, found.options)
    return found
  }

  /** Reads the arguments of an operation without options; options for other libraries must be empty. */
  withoutOptions(
    operation: string,
    args: readonly unknown[],
  ): HostArguments<FrameworkRequest, FrameworkResponse, object> {
    const found = this.#read<object>(args)
    if (found && Object.keys(found.options ?? {}).length === 0) return found
    return this.#refuse(operation, '() or (request, response)', args)
  }

  /** Reads a session instead of options: any value, which the operation validates. */
  withSession<Session>(
    operation: string,
    args: readonly unknown[],
  ): HostArguments<FrameworkRequest, FrameworkResponse, Session> {
    const forms = '(session), (request, response, session) or (session, request, response)'
    return this.#read<Session>(args, true) ?? this.#refuse(operation, forms, args)
  }
}
