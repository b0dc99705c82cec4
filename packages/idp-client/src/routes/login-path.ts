import type { RoutePaths } from '../config/config.ts'

/** Query parameter of the login route: this login must not be restarted once more. */
export const RESTARTED = 'restarted'

/**
 * Path of the login route as the browser sees it (`prefix` is `''` or `/path`), leading back to `returnTo`, which is
 * encoded whole, so that it cannot add parameters.
 */
export function loginPath(prefix: string, routes: RoutePaths, returnTo?: string): string {
  const query = returnTo === undefined ? '' : `?returnTo=${encodeURIComponent(returnTo)}`
  return `${prefix}${routes.login}${query}`
}

/** The same for the page that begins a login anew by itself. */
export function restartPath(login: string): string {
  return `${login}${login.includes('?') ? '&' : '?'}${RESTARTED}=1`
}
