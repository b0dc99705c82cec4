import { invalidConfiguration } from '../errors/configuration.ts'
import { CookieJar } from './cookie-jar.ts'
import type { Binding, Exchange, RequestCookies, RequestView } from './exchange.ts'

/** State of one request, which all its operations and exchanges share. */
type RequestState = Omit<Exchange, 'canWrite'>

/** The `Set-Cookie` lines of one of our cookies on a response. */
interface WrittenCookie {
  /** All that were written, the newest last. */
  readonly lines: readonly string[]
  /** Returns whether the cookie must not reach the browser any more. */
  readonly isOutdated: () => boolean
}

/** Our `Set-Cookie` lines on a response, by cookie name. */
export type CookieLines = Map<string, WrittenCookie>

/** A request while the middleware of a client serves it. */
interface OpenRequest {
  readonly binding: Binding
  readonly client: object
  /** The line that mounts the middleware, for errors. */
  readonly mountLine: string
  /** The same request in the middleware of another client, around this one. */
  readonly outer?: OpenRequest | undefined
}

/** State of a host's request or response object. It is garbage-collected with the object. */
interface HostState {
  request?: RequestState
  open?: OpenRequest | undefined
  hasResponse?: true
  cookieLines?: CookieLines
}

/** Its constructor returns the given object, so that a derived class adds its private fields to any object. */
class Returned {
  constructor(hostObject: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is what the class is for
    return hostObject
  }
}

/**
 * Adds the state to the host's object as a private field: like an entry of a `WeakMap`, it belongs to this very object and no
 * other code sees it. But V8 frees the entries of a `WeakMap` only in major garbage collections, so that the requests of a
 * busy server would all survive until then (decision 0023).
 */
class Stamp extends Returned {
  readonly #state: HostState = {}

  static get(hostObject: object): HostState {
    return Stamp.peek(hostObject) ?? (new Stamp(hostObject) as Stamp).#state
  }

  /** Returns the state of an object, without creating one. */
  static peek(hostObject: object): HostState | undefined {
    return #state in hostObject ? hostObject.#state : undefined
  }
}

/** Returns the cookies of a new request. */
export function requestCookies(received: ConstructorParameters<typeof CookieJar>[0]): RequestCookies {
  return { cookies: new CookieJar(received), slots: {} }
}

/**
 * Returns the state of a host's request object, created by the first operation, so that cookies are decrypted once per
 * request and staged writes are visible to later operations.
 */
export function requestState(
  hostRequest: object,
  createView: () => RequestView,
  readCookies = ({ headers }: RequestView): RequestCookies => requestCookies(headers.get('cookie')),
): RequestState {
  const state = Stamp.get(hostRequest)
  if (!state.request) {
    const request = createView()
    state.request = { request, ...readCookies(request) }
  }
  return state.request
}

/** Returns the binding of the middleware that serves a request, or `undefined` outside a middleware. */
export function openBinding(hostRequest: object): Binding | undefined {
  return Stamp.get(hostRequest).open?.binding
}

/** The line that mounts the middleware, of hosts without another one. */
const MOUNT_LINE = 'idp.middleware'

/** Returns the line that mounts the middleware which serves a request, for errors. */
export function openMountLine(hostRequest: object): string {
  return Stamp.peek(hostRequest)?.open?.mountLine ?? MOUNT_LINE
}

/** Notes that the response of the application to a request has left: no cookie can be added to it. */
export function markResponded(hostRequest: object): void {
  Stamp.get(hostRequest).hasResponse = true
}

/** Returns whether the response of the application to a request has left. */
export function hasResponded(hostRequest: object): boolean {
  return Stamp.get(hostRequest).hasResponse === true
}

/** Throws `INVALID_CONFIGURATION` if the middleware of a client serves the request already. */
export function assertNotServed(hostRequest: object, client: object): void {
  for (let open = Stamp.peek(hostRequest)?.open; open; open = open.outer) {
    if (open.client !== client) continue
    const detail = `The middleware is mounted twice, keep one: ${open.mountLine}`
    throw invalidConfiguration(detail)
  }
}

/** Makes a binding that of the request, until the returned function is called. Throws if the client serves it already. */
export function openRequest(
  hostRequest: object,
  binding: Binding,
  client: object,
  mountLine: string = MOUNT_LINE,
): () => void {
  assertNotServed(hostRequest, client)
  const state = Stamp.get(hostRequest)
  const { open: outer } = state
  state.open = { binding, client, mountLine, outer }
  return () => {
    state.open = outer
  }
}

/** Returns the lines of a host's response object, created by the first write. */
export function cookieLines(hostResponse: object, create: () => CookieLines): CookieLines {
  const state = Stamp.get(hostResponse)
  state.cookieLines ??= create()
  return state.cookieLines
}
