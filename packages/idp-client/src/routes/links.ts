import type { RoutePaths } from '../config/config.ts'
import type { Application } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { publicPrefix } from '../http/return-path.ts'
import { defined } from '../lib/objects.ts'

/** Links of a failure page, all within the application. */
export interface Links {
  readonly home: string
  /** Link to retry; absent if that is the page that linked here. */
  readonly login?: string
}

/**
 * Returns the path prefix of the links of a failure page. Without a base URL, whose lack may be the failure, it is the configured base
 * path.
 */
export function linkPrefix(application: Application, exchange: Exchange): string {
  const { basePath } = application.settings
  try {
    return publicPrefix(basePath, application.apiEngine().baseUrl(exchange))
  } catch {
    return basePath
  }
}

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
