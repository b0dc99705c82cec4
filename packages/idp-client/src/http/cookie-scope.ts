import type { CookieScope, SameSite } from './cookie-jar.ts'

interface CookieScopeSettings {
  readonly path: string
  readonly domain?: string
  readonly secure: boolean | 'from-base-url'
  readonly sameSite: SameSite
}

/** Returns the attributes of a cookie for one request: `secure` may depend on the base URL. */
export function cookieScope(settings: CookieScopeSettings, baseUrl: () => string): CookieScope {
  const { path, domain, sameSite } = settings
  const secure = settings.secure === 'from-base-url' ? baseUrl().startsWith('https:') : settings.secure
  return { path, ...(domain === undefined ? {} : { domain }), secure, sameSite }
}
