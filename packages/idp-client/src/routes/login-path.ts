import type { RoutePaths } from '../config/config.ts'

/** Query parameter of the login route: this login must not be restarted once more. */
export const RESTARTED = 'restarted'

/**
 * Path of the login route as the browser sees it (`prefix` is `''` or `/path`), leading back to `returnTo`, and asking
 * the provider for `parameters`. Every value is encoded whole, so that it cannot add parameters.
 */
export function loginPath(
  prefix: string,
  routes: RoutePaths,
  returnTo?: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const all = { ...(returnTo === undefined ? {} : { returnTo }), ...parameters }
  const query = Object.entries(all).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${prefix}${routes.login}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** The same for the page that begins a login anew by itself. */
export function restartPath(login: string): string {
  return `${login}${login.includes('?') ? '&' : '?'}${RESTARTED}=1`
}
