import type { ApiGuardResult } from '../../guards/guards.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'

/** Request type of this entry: an `H3Event` of h3 1, which Nuxt and Nitro 2 pass to their handlers. */
export interface FrameworkRequest {
  readonly node: { readonly req: NodeRequest; readonly res: NodeResponse }
  readonly context: object
}

/** An `EventHandler` of h3. Its type is that of the guarded handler: `$fetch` and `useFetch` throw for other responses. */
export interface EventHandler<Event, Result> {
  /** Marks handlers for h3, as `defineEventHandler` does. */
  __is_handler__?: true
  (event: Event): Promise<Awaited<Result>>
}

/** Returns an event handler that calls another only for requests that a guard lets pass. */
export function toGuarded<Event extends { readonly context: object }, Result>(
  guard: (event: Event) => Promise<ApiGuardResult>,
  handler: (event: Event) => Result,
): EventHandler<Event, Result> {
  const guarded = async (event: Event): Promise<Response | Awaited<Result>> => {
    const result = await guard(event)
    if (result.auth) Reflect.set(event.context, 'idpAuth', result.auth)
    return result.response ?? (await handler(event))
  }
  const marked: unknown = Object.assign(guarded, { __is_handler__: true })
  return marked as EventHandler<Event, Result>
}
