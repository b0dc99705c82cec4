import type { FrameworkRequest, FrameworkResponse } from './context.ts'

const NOT_SHARED = /\b(?:no-store|private)\b/i

/** The `locals` of the requests that a guard has decided about: those of a page and of its middleware are the same object. */
const guarded = new WeakSet<object>()

/** Marks a request whose response is behind a guard. Returns its context. */
export function behindGuard<Context extends FrameworkRequest>(context: Context): Context {
  guarded.add(context.locals)
  return context
}

/**
 * Keeps a response that is behind a guard, or that no shared cache may store, out of the route cache of Astro. It ignores `Cache-Control`:
 * it stores what the rule of a route or the page tells it to, and responds from then on before any middleware, that is, without a guard.
 */
export function withoutRouteCache(
  { cache, locals }: FrameworkRequest,
  response: FrameworkResponse,
): FrameworkResponse {
  const isPrivate = guarded.has(locals) || NOT_SHARED.test(response.headers.get('cache-control') ?? '')
  if (cache?.enabled && isPrivate) cache.set(false)
  return response
}
