import type { OriginCheckOptions } from '../web/origin-check.ts'
import { rejectCrossOrigin } from '../web/origin-check.ts'
import type { FrameworkRequest, FrameworkResponse } from './client.ts'

/**
 * Creates a middleware that rejects form posts of other origins with 403, as Astro itself does unless
 * `security.checkOrigin` is off. Behind `idp.onRequest` it checks the requests of the application only: the provider posts
 * to the auth routes from its own origin, or without one.
 *
 * @example
 * export const onRequest = sequence(idp.onRequest, checkOrigin())
 */
export function checkOrigin(
  options: OriginCheckOptions = {},
): (context: FrameworkRequest, next: () => Promise<FrameworkResponse>) => Promise<FrameworkResponse> {
  return async ({ isPrerendered, request, url }, next) => {
    const rejected = isPrerendered ? null : rejectCrossOrigin(request, url.origin, options)
    return rejected ?? next()
  }
}
