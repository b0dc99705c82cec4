import type { StorageState } from '@playwright/test'
import type { Env } from '../config/env.ts'
import { splitSecrets } from '../config/secrets.ts'
import type { SameSite } from '../http/cookie-jar.ts'
import { parseUrl } from '../lib/url.ts'
import type { SessionCookieSettings, TestSession } from '../testing/session-cookie.ts'
import { generateSessionCookies } from '../testing/session-cookie.ts'
import { kitError } from './kit-error.ts'

/** How the application writes its session cookie; the defaults are those of its variables. */
export interface SessionCookieOptions extends Partial<SessionCookieSettings> {}

type State = Exclude<StorageState, string>

const sameSites = { lax: 'Lax', none: 'None', strict: 'Strict' } as const

const isSameSite = (text: string): text is SameSite => text in sameSites

function readSameSite({ IDP_COOKIE_SAME_SITE: text = 'lax' }: Env): SameSite {
  const value = text.toLowerCase()
  if (isSameSite(value)) return value
  throw kitError('IDP_COOKIE_SAME_SITE must be lax, strict or none.')
}

function readSecure({ IDP_COOKIE_SECURE: text }: Env, { protocol }: URL): boolean {
  if (text === undefined) return protocol === 'https:'
  if (/^(true|1)$/i.test(text)) return true
  if (/^(false|0)$/i.test(text)) return false
  throw kitError('IDP_COOKIE_SECURE must be true or false.')
}

function requireBaseUrl(baseURL: string | undefined): URL {
  const url = baseURL === undefined ? null : parseUrl(baseURL)
  if (url) return url
  throw kitError('the option user needs the URL of the application: set baseURL in playwright.config.')
}

function requireSecret(
  given: SessionCookieOptions['secret'],
  { IDP_SECRET }: Env,
): string | readonly string[] {
  const secret = given ?? (IDP_SECRET === undefined ? [] : splitSecrets(IDP_SECRET))
  const [first = ''] = typeof secret === 'string' ? [secret] : secret
  if (first.length >= 32) return secret
  throw kitError(
    'the option user needs the secret of the application, with 32 characters or more: set IDP_SECRET for Playwright and the application, or the option sessionCookie.secret.',
  )
}

/** Returns the host of the cookie; a browser would not send one of another host, and nobody would be signed in. */
function toHost({ hostname }: URL, domain: string | undefined): string {
  if (domain === undefined) return hostname
  const host = `.${domain.replace(/^\./, '').toLowerCase()}`
  if (`.${hostname}`.endsWith(host)) return host
  throw kitError(
    'the option user needs a cookie that baseURL gets: IDP_COOKIE_DOMAIN, or the option sessionCookie.domain, is not its host nor above it.',
  )
}

/** The input of a session cookie. */
export interface SignedIn {
  readonly session: TestSession
  readonly cookie: SessionCookieOptions
  readonly baseURL: string | undefined
  readonly env: Env
}

/** Returns the cookies of a session, as Playwright keeps them. */
export async function toSessionState({ baseURL, cookie, env, session }: SignedIn): Promise<State> {
  const url = requireBaseUrl(baseURL)
  const secret = requireSecret(cookie.secret, env)
  const { domain = env.IDP_COOKIE_DOMAIN, path = env.IDP_COOKIE_PATH ?? '/' } = cookie
  const host = toHost(url, domain)
  const { sameSite = readSameSite(env), secure = readSecure(env, url) } = cookie
  const settings = { ...cookie, path, sameSite, secret, secure }
  const cookies = await generateSessionCookies(
    session,
    domain === undefined ? settings : { ...settings, domain },
  )
  return {
    cookies: cookies.map(({ name, value }) => ({
      ...{ name, value, path, secure, expires: -1, httpOnly: true },
      domain: host,
      sameSite: sameSites[sameSite],
    })),
    origins: [],
  }
}
