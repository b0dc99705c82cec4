import type { CookieJar } from './cookie-jar.ts'
import type { RequestView } from './exchange.ts'

/** State of one request, read once for all its operations. */
export interface RequestState {
  readonly request: RequestView
  readonly cookies: CookieJar
}

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
