import type { Application } from '../../engine.ts'
import type { Binding } from '../../http/exchange.ts'
import { openRequest } from '../../http/host-state.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { WebRequestView } from '../web/binding.ts'

interface SubRequest {
  readonly application: Application
  readonly client: object
  /** The binding of the request during which the application sends this one. */
  readonly outer: Binding
  readonly request: Request
}

/**
 * Serves a request that the application sends to itself (`event.fetch`). It shares the session of the outer request, whose
 * response sets the cookies: so neither misses or overwrites what the other has saved.
 */
export async function serveSubRequest(
  { application, client, outer, request }: SubRequest,
  next: () => MaybePromise<Response>,
): Promise<Response> {
  const exchange = { ...outer.exchange, request: new WebRequestView(request) }
  const leave = openRequest(request, { exchange, commit: () => outer.commit() }, client)
  try {
    return (await dispatch(application, exchange, request)) ?? (await next())
  } finally {
    leave()
  }
}
