import { IdpError } from '../../errors/base.ts'
import type { Binding } from '../../http/exchange.ts'
import { openBinding } from '../../http/host-state.ts'
import type { AsyncContext } from '../../lib/async-context.ts'
import { requestContext } from '../../lib/request-scope.ts'
import type { Log } from '../../log/log.ts'
import type { NodeRequest } from '../node/binding.ts'
import { bindNode } from '../node/binding.ts'

interface ServedEvent {
  readonly node: { readonly req: NodeRequest }
  readonly context: object
}

/** The event that the plugin serves. */
export const current: AsyncContext<ServedEvent> = requestContext('nuxt/1')

/**
 * Returns whether Nitro runs a handler whose response it caches for other users. The handler gets an event without cookies;
 * Nitro notes the options of the cache in the context, which that event shares with the one of the browser's request.
 */
export function isCached({ context }: ServedEvent): boolean {
  const { cache } = context as { readonly cache?: { readonly options?: { readonly getKey?: unknown } } }
  return typeof cache?.options?.getKey === 'function'
}

/** Two functions of Nitro that call a cached function, in the stack of V8. Nitro notes nothing else that shows it. */
const CACHED_FUNCTION = /^ +at (?:async )?_resolve .+\n +at (?:async )?get /m

/** Returns whether a function runs whose result Nitro caches. Only unminified code tells, and a stack costs microseconds. */
function isCachedFunction(): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 100
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return CACHED_FUNCTION.test(stack)
}

/**
 * Throws if the caller is a cached handler, which has to name its event: the one of the plugin is that of a user. In
 * development also if it is a cached function, whose result is that of other users, too.
 */
export function assertNotCached(development: boolean): void {
  const event = current.getStore()
  if (!event) return
  if (isCached(event)) {
    const detail = 'Inside a cached handler pass the event: its response is sent to every user.'
    throw new IdpError('AMBIENT_REQUEST_MISSING', { detail })
  }
  if (development && isCachedFunction()) {
    const detail =
      'A cached function (defineCachedFunction) has no user: its result is returned to every user. Read the session ' +
      'before, and pass what the function needs as an argument, which becomes part of its key.'
    throw new IdpError('AMBIENT_REQUEST_MISSING', { detail })
  }
}

/** Reports that the server renders a page without a session, because other users get the same response. */
export function reportSharedPage(log: Log): void {
  log.once(
    'A page with the route middleware idp-login is cached or prerendered for all users: the server renders it for ' +
      'nobody, and sends it to everybody; only the browser then starts the login. Remove swr, ' +
      'isr, cache and prerender from the rules of its route.',
  )
}

/**
 * Binds a request that the application sends to itself (`event.$fetch`, `useFetch`), whose response does not reach the
 * browser. Returns `undefined` for any other. With the cookies of the outer request it shares the session of that one, whose
 * response sets the cookies: so neither misses or overwrites what the other has saved. Otherwise it is read-only.
 */
export function bindSubRequest(request: NodeRequest): Binding | undefined {
  const outerEvent = current.getStore()
  const outer = outerEvent && openBinding(outerEvent.node.req)
  if (!outer) return undefined
  const own = bindNode(request)
  const { headers } = own.exchange.request
  const hasSameCookies = headers.get('cookie') === outer.exchange.request.headers.get('cookie')
  if (!hasSameCookies || isCached(outerEvent)) return own
  return { ...outer, exchange: { ...outer.exchange, request: own.exchange.request } }
}
