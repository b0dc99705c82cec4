import type { Exchange } from './exchange.ts'

/** State of one request, which all its operations and exchanges share. */
export type RequestState = Omit<Exchange, 'canWrite'>

/** Our `Set-Cookie` lines on a response, by cookie name. */
export type CookieLines = Map<string, string>

/** State of a host's request or response object. It is garbage-collected with the object. */
interface HostState {
  request?: RequestState
  cookieLines?: CookieLines
}

const states = new WeakMap<object, HostState>()

function getState(hostObject: object): HostState {
  const state = states.get(hostObject) ?? {}
  states.set(hostObject, state)
  return state
}

/**
 * Returns the state of a host's request object, created by the first operation, so that cookies are decrypted once per
 * request and staged writes are visible to later operations.
 */
export function requestState(hostRequest: object, create: () => RequestState): RequestState {
  const state = getState(hostRequest)
  state.request ??= create()
  return state.request
}

/** Returns the lines of a host's response object, created by the first write. */
export function cookieLines(hostResponse: object, create: () => CookieLines): CookieLines {
  const state = getState(hostResponse)
  state.cookieLines ??= create()
  return state.cookieLines
}
