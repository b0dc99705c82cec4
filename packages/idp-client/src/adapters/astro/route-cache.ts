import type { FrameworkRequest, FrameworkResponse } from './context.ts'

const NOT_SHARED = /\b(?:no-store|private)\b/i

/**
 * Keeps a response that no shared cache may store out of the route cache of Astro, which ignores `Cache-Control`: it stores what the rule of
 * a route or the page tells it to, and responds from then on before any middleware, that is, without a guard.
 */
export function withoutRouteCache(
  { cache }: FrameworkRequest,
  response: FrameworkResponse,
): FrameworkResponse {
  if (cache?.enabled && NOT_SHARED.test(response.headers.get('cache-control') ?? '')) cache.set(false)
  return response
}
