import type { Settings } from '../config/config.ts'

/** Path of the login route as the browser sees it, leading back to `returnTo` (encoded whole, so that it cannot add parameters). */
export function loginPath({ basePath, routes }: Settings, returnTo?: string): string {
  const query = returnTo === undefined ? '' : `?returnTo=${encodeURIComponent(returnTo)}`
  return `${basePath}${routes.login}${query}`
}
