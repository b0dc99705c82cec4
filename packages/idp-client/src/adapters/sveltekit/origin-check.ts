import type { OriginCheckOptions } from '../web/origin-check.ts'
import { rejectCrossOrigin } from '../web/origin-check.ts'
import type { FrameworkRequest, FrameworkResponse, HandleInput } from './event.ts'

/**
 * Creates a `handle` hook that rejects form posts of other origins with 403, as SvelteKit itself does unless
 * `csrf.trustedOrigins` contains `'*'`. Behind `idp.handle` it checks the requests of the application only: the provider
 * posts to the auth routes from its own origin, or without one.
 *
 * @example
 * export const handle = sequence(idp.handle, checkOrigin())
 */
export function checkOrigin(
  options: OriginCheckOptions = {},
): <Event extends FrameworkRequest>(input: HandleInput<Event>) => Promise<FrameworkResponse> {
  return async ({ event, resolve }) =>
    rejectCrossOrigin(event.request, event.url.origin, options) ?? resolve(event)
}
