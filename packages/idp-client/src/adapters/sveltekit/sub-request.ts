import type { Application } from '../../engine.ts'
import { cookieHeader, parseCookies } from '../../http/cookie-text.ts'
import type { Binding, RequestHeaders } from '../../http/exchange.ts'
import { openRequest } from '../../http/host-state.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { bindRequest, WebRequestView } from '../web/binding.ts'
import { ambient } from '../web/web-host.ts'

interface SubRequest {
  readonly application: Application
  readonly client: object
  /** The binding of the request during which the application sends this one. */
  readonly outer: Binding
  readonly request: Request
}

/**
 * Returns the prefixes of the names of session cookies, also of those of a former library; while the configuration is incomplete, the
 * prefix of every name.
 */
function cookiePrefixes(application: Application): readonly string[] {
  try {
    const { session, takeOver } = application.engine().config
    return takeOver ? [session.cookie.name, ...takeOver.cookies] : [session.cookie.name]
  } catch {
    return ['']
  }
}

/** Returns the cookies of the session, without the others: SvelteKit adds those that the application has set meanwhile. */
function sessionCookies(application: Application, headers: RequestHeaders): string {
  const prefixes = cookiePrefixes(application)
  const received = [...parseCookies(headers.get('cookie'))]
  return cookieHeader(
    // Of several values SvelteKit passes the first one on.
    received
      .filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)))
      .map(([name, value]) => [name, [value].flat()[0] ?? ''] as const),
  )
}

function bindSubRequest({ application, outer, request }: SubRequest): Binding {
  const [own, others] = [request, outer.exchange.request].map(({ headers }) =>
    sessionCookies(application, headers),
  )
  if (own !== others) return bindRequest(request)
  const exchange = { ...outer.exchange, request: new WebRequestView(request) }
  return { ...outer, exchange }
}

/**
 * Serves a request that the application sends to itself (`event.fetch`). It shares the session of the outer request, whose
 * response sets the cookies: so neither misses or overwrites what the other has saved. With a session cookie of its own
 * it is read-only.
 */
export async function serveSubRequest(
  subRequest: SubRequest,
  next: () => MaybePromise<Response>,
): Promise<Response> {
  const { application, client, request } = subRequest
  const binding = bindSubRequest(subRequest)
  const leave = openRequest(request, binding, client)
  try {
    return (await dispatch(application, binding.exchange, request)) ?? (await ambient.run(binding, next))
  } finally {
    leave()
  }
}
