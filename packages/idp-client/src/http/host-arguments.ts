import { IdpError } from '../errors/base.ts'

/** The arguments of one call of an operation, whichever order they came in. */
export interface HostArguments<FrameworkRequest, FrameworkResponse, Options> {
  readonly request: FrameworkRequest | undefined
  readonly response: FrameworkResponse | undefined
  readonly options: Options | undefined
}

type Role = 'request' | 'response' | 'options'

/** The orders of arguments that every operation takes, `undefined` left out. */
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

/** Whether a value is a request, of the Web or of Node, from whichever copy of its class. */
function isRequest(value: object): boolean {
  return has(value, 'method', 'string') && has(value, 'url', 'string') && getHeaders(value) !== null
}

/** Whether cookies can be written to a value: a response of Node, headers of the Web, or something that has such headers. */
function isResponse(value: object): boolean {
  if (has(value, 'setHeader', 'function') || has(value, 'getSetCookie', 'function')) return true
  const headers = getHeaders(value)
  return headers !== null && has(headers, 'get', 'function')
}

/** From whichever realm; contexts of other frameworks are instances of classes. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Describes an argument for a message, without its contents. */
function describe(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  if (Array.isArray(value)) return 'array'
  return isPlainObject(value) ? 'object with headers but without method and url' : 'instance of another class'
}

function detectRole(value: unknown): Role | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  if (isRequest(value)) return 'request'
  if (isResponse(value)) return 'response'
  // Half a request: to take it for options would silently leave it out.
  return isPlainObject(value) && getHeaders(value) === null ? 'options' : null
}

function refuse(operation: string, forms: string, given: readonly unknown[]): never {
  const roles = given
    .filter((value) => value !== undefined)
    .map((value) => detectRole(value) ?? describe(value))
  const detail = `${operation} takes ${forms}, not (${roles.join(', ')}).`
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}

function read<FrameworkRequest, FrameworkResponse, Options>(
  given: readonly unknown[],
  role: (value: unknown) => Role | null,
): HostArguments<FrameworkRequest, FrameworkResponse, Options> | null {
  const found: { [role in Role]?: unknown } = {}
  const order: Role[] = []
  for (const value of given) {
    if (value === undefined) continue
    const its = role(value)
    if (its === null) return null
    order.push(its)
    found[its] = value
  }
  return ORDERS.has(order.join(', '))
    ? (found as HostArguments<FrameworkRequest, FrameworkResponse, Options>)
    : null
}

/**
 * Reads the arguments of an operation with options, in any calling style: `(options)`, `(request, options)`,
 * `(request, response, options)` or `(options, request, response)`, each part left out or `undefined` as well. Options
 * are told by what they are not. Throws `INVALID_ARGUMENTS` for everything else.
 */
export function readArguments<FrameworkRequest, FrameworkResponse, Options>(
  operation: string,
  given: readonly unknown[],
): HostArguments<FrameworkRequest, FrameworkResponse, Options> {
  const forms = '(options), (request, response, options) or (options, request, response)'
  return (
    read<FrameworkRequest, FrameworkResponse, Options>(given, detectRole) ?? refuse(operation, forms, given)
  )
}

/** The same for an operation without options; those that other libraries take must be empty. */
export function readRequest<FrameworkRequest, FrameworkResponse>(
  operation: string,
  given: readonly unknown[],
): HostArguments<FrameworkRequest, FrameworkResponse, object> {
  const found = read<FrameworkRequest, FrameworkResponse, object>(given, detectRole)
  if (found && Object.keys(found.options ?? {}).length === 0) return found
  return refuse(operation, '() or (request, response)', given)
}

/** The same for a session in place of options: any value, which is checked when it is saved. */
export function readSession<FrameworkRequest, FrameworkResponse, Session>(
  operation: string,
  given: readonly unknown[],
): HostArguments<FrameworkRequest, FrameworkResponse, Session> {
  const role = (value: unknown): Role => {
    const its = detectRole(value)
    return its === 'request' || its === 'response' ? its : 'options'
  }
  const forms = '(session), (request, response, session) or (session, request, response)'
  return read<FrameworkRequest, FrameworkResponse, Session>(given, role) ?? refuse(operation, forms, given)
}
