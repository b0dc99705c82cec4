import type { Settings } from '../../config/config.ts'
import type { OriginCheckOptions } from '../web/origin-check.ts'
import { rejectCrossOrigin } from '../web/origin-check.ts'
import type { FrameworkRequest, FrameworkResponse } from './context.ts'

/** A middleware of Astro. */
export type AstroMiddleware = (
  context: FrameworkRequest,
  next: () => Promise<FrameworkResponse>,
) => Promise<FrameworkResponse>

/** Creates a middleware that rejects form posts of other origins than that of the request and those of `appBaseUrl`. */
export function createOriginCheck(
  { origins }: Pick<Settings, 'origins'>,
  { trustedOrigins = [] }: OriginCheckOptions = {},
): AstroMiddleware {
  const trusted = { trustedOrigins: [...trustedOrigins, ...origins] }
  return async ({ isPrerendered, request, url }, next) => {
    const rejected = isPrerendered ? null : rejectCrossOrigin(request, url.origin, trusted)
    return rejected ?? next()
  }
}
