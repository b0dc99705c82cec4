import { IdpError } from '../../errors/base.ts'
import type { Binding } from '../../http/exchange.ts'
import { openBinding } from '../../http/host-state.ts'
import type { AsyncContext } from '../../lib/async-context.ts'
import { requestContext } from '../../lib/request-scope.ts'
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

/** Throws if the caller is a cached handler, which has to name its event: the one of the plugin is that of a user. */
export function assertNotCached(): void {
  const event = current.get()
  if (!event || !isCached(event)) return
  const detail = 'Inside a cached handler pass the event: its response is sent to every user.'
  throw new IdpError('AMBIENT_REQUEST_MISSING', { detail })
}

/**
 * Binds a request that the application sends to itself (`event.$fetch`, `useFetch`), whose response does not reach the
 * browser. Returns `undefined` for any other. With the cookies of the outer request it shares the session of that one, whose
 * response sets the cookies: so neither misses or overwrites what the other has saved. Otherwise it is read-only.
 */
export function bindSubRequest(request: NodeRequest): Binding | undefined {
  const outerEvent = current.get()
  const outer = outerEvent && openBinding(outerEvent.node.req)
  if (!outer) return undefined
  const own = bindNode(request)
  const { headers } = own.exchange.request
  const hasSameCookies = headers.get('cookie') === outer.exchange.request.headers.get('cookie')
  if (!hasSameCookies || isCached(outerEvent)) return own
  return { exchange: { ...outer.exchange, request: own.exchange.request }, commit: () => outer.commit() }
}
