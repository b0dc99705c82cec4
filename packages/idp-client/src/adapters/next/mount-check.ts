import type { Application } from '../../engine.ts'
import type { RequestHeaders } from '../../http/exchange.ts'
import { wantsJson } from '../../http/request-kind.ts'
import { processWide } from '../../lib/registry.ts'
import { mayCarrySession } from '../../routes/pass-through.ts'
import { RETURN_PATH } from './forward.ts'

const NOT_REACHED =
  'A page reads the session, but no request has reached idp.middleware, idp.handlers() or idp.pagesHandler() yet. If the ' +
  'login route responds with 404, check the file, its folder and the matcher: proxy.ts (before Next.js 16 middleware.ts) ' +
  'belongs beside the folder app or pages, so in src if that is in src; it has to export the function and a config.matcher ' +
  'that includes the auth routes and this page. With a route handler this is normal until the first login.'

const mount = (): { isReached: boolean } => processWide('mark:next-mount/1', () => ({ isReached: false }))

/** Notes that a request has reached the proxy or a handler of the auth routes in this process. */
export function markReached(): void {
  mount().isReached = true
}

/** Returns whether the proxy forwards the path of this request: surely that of a navigation. */
function isOfPage(headers: RequestHeaders): boolean {
  if (headers.get('sec-fetch-mode') === 'navigate') return true
  return headers.get('sec-fetch-dest') === null && !wantsJson(headers)
}

/**
 * Reports in development that a page reads the session although no request has reached the proxy or a handler. The edge
 * runtime, in which `middleware.ts` may run, shares nothing with this process: there the header that it forwards tells.
 * A session was made by a handler.
 */
export function reportUnreached(application: Application, headers: RequestHeaders): void {
  const { development, log } = application.settings
  if (!development || mount().isReached) return
  if (headers.has(RETURN_PATH)) markReached()
  else if (isOfPage(headers) && !mayCarrySession(application, headers))
    log.once(NOT_REACHED, 'PROXY_NOT_REACHED')
}
