import type { Exchange } from './exchange.ts'

/** State of one request, read once for all its operations: all exchanges of the request share it. */
export type RequestState = Omit<Exchange, 'canWrite'>

const states = new WeakMap<object, RequestState>()

/**
 * The state of a host's request object: made at the first operation on it, found again by the later ones, so that a
 * cookie is opened once per request and a staged write is seen at once. Dies with the request object.
 */
export function requestState(hostRequest: object, create: () => RequestState): RequestState {
  const known = states.get(hostRequest)
  if (known) return known
  const made = create()
  states.set(hostRequest, made)
  return made
}
