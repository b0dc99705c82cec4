import type { Application } from '../../engine.ts'
import { isSvelteKitBuild } from '../../lib/node-env.ts'
import { matchRoute } from '../../routes/dispatch.ts'
import { WebRequestView } from '../web/binding.ts'

/**
 * Returns whether the build follows a link to an auth route or a proxied API. It would store the response as a page: the
 * redirect of one login, for all users.
 */
export function isLinkInBuild({ proxies, settings }: Application, request: Request): boolean {
  if (!isSvelteKitBuild()) return false
  const view = new WebRequestView(request)
  return matchRoute(settings, view) !== null || [...proxies.values()].some((proxy) => proxy.covers(view))
}
