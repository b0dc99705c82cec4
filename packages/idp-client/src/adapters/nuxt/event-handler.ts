import { InvalidConfigurationError } from '../../errors/configuration.ts'
import type { GuardResult } from '../../guards/guards.ts'

/** An `EventHandler` of h3. Its type is that of the guarded handler: `$fetch` and `useFetch` throw for other responses. */
export interface EventHandler<Event, Result> {
  /** Marks handlers for h3, as `defineEventHandler` does. */
  __is_handler__?: true
  (event: Event): Promise<Awaited<Result>>
}

/** Returns an event handler that calls another only for requests that a guard lets pass. */
export function toGuarded<Event, Result>(
  guard: (event: Event) => Promise<GuardResult>,
  handler: (event: Event) => Result,
): EventHandler<Event, Result> {
  const guarded = async (event: Event): Promise<Response | Awaited<Result>> =>
    (await guard(event)).response ?? (await handler(event))
  const marked: unknown = Object.assign(guarded, { __is_handler__: true })
  return marked as EventHandler<Event, Result>
}

/** Returns the application of h3 1. Throws `INVALID_CONFIGURATION` with h3 2, for which Nitro names it differently. */
export function toH3App<App>({ h3App }: { readonly h3App?: App }): App {
  if (h3App) return h3App
  const detail = 'idp-client/nuxt needs h3 1: Nuxt 3 or 4, or Nitro 2. With h3 2 use idp-client.'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}
