import type { Exchange } from './exchange.ts'

/** State of one request, which all its operations and exchanges share. */
export type RequestState = Omit<Exchange, 'canWrite'>

const states = new WeakMap<object, RequestState>()

/**
 * Returns the state of a host's request object, created by the first operation, so that cookies are decrypted once per
 * request and staged writes are visible to later operations. It is garbage-collected with the request object.
 */
export function requestState(hostRequest: object, create: () => RequestState): RequestState {
  const known = states.get(hostRequest)
  if (known) return known
  const created = create()
  states.set(hostRequest, created)
  return created
}
