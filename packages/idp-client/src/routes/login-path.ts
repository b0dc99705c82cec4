import type { RoutePaths } from '../config/config.ts'

/**
 * Path of the login route as the browser sees it (`prefix` is `''` or `/path`), leading back to `returnTo`, which is
 * encoded whole, so that it cannot add parameters.
 */
export function loginPath(prefix: string, routes: RoutePaths, returnTo?: string): string {
  const query = returnTo === undefined ? '' : `?returnTo=${encodeURIComponent(returnTo)}`
  return `${prefix}${routes.login}${query}`
}
