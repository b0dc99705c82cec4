import type { RoutePaths } from '../config/config.ts'
import { defined } from '../lib/objects.ts'

/** Query parameter of the login route: this login must not be restarted again. */
export const RESTARTED = 'restarted'

/**
 * Returns the path of the login route as the browser sees it (`prefix` is `''` or `/path`), which redirects to
 * `returnTo` afterwards and requests `parameters` from the provider. Values are encoded, so that they cannot add
 * parameters.
 */
export function loginPath(
  prefix: string,
  routes: RoutePaths,
  returnTo?: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const all = defined({ returnTo, ...parameters })
  const query = Object.entries(all).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${prefix}${routes.login}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Returns the login path for the page that restarts a login automatically. */
export function restartPath(login: string): string {
  return `${login}${login.includes('?') ? '&' : '?'}${RESTARTED}=1`
}
