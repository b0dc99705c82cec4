import { isBelow } from '../lib/url.ts'
import { parseUrls } from './base-url.ts'
import type { AppBaseUrl, Config, Settings } from './config.ts'
import type { AddIssue } from './readers.ts'

/** Their requests have to carry the cookies: a login finds those of others, a logout deletes all of them. */
const ROUTES = ['login', 'callback', 'logout'] as const

/** Where browsers see the application: the base path, else the path of the base URL. */
function toPathPrefixes(basePath: string, appBaseUrl: AppBaseUrl | null): readonly string[] {
  const urls = parseUrls(appBaseUrl)
  if (basePath !== '' || urls.length === 0) return [basePath]
  return urls.map(({ pathname }) => pathname.replace(/\/+$/, ''))
}

/** Reports cookies whose path does not contain the routes that need them: a logout could not delete them. */
export function noteOutOfReach(
  { appBaseUrl, settings }: { readonly appBaseUrl: AppBaseUrl | null; readonly settings: Settings },
  { session, transaction }: Pick<Config, 'session' | 'transaction'>,
  addIssue: AddIssue,
): void {
  const { basePath, routes } = settings
  const paths = {
    'session.cookie.path': session.cookie.path,
    'transactionCookie.path': transaction.cookie.path,
  }
  const prefixes = toPathPrefixes(basePath, appBaseUrl)
  for (const [name, cookiePath] of Object.entries(paths)) {
    // Like the path matching of browsers (RFC 6265bis section 5.1.4).
    const outside = ROUTES.find((key) =>
      prefixes.some((prefix) => !isBelow(cookiePath, prefix + routes[key])),
    )
    if (outside === undefined) continue
    addIssue(
      'notice',
      `${name} does not contain the ${outside} route, which its cookies therefore do not reach.`,
    )
  }
}
