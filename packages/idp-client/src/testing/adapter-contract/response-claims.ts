import type { Browser, BrowserResponse } from './browser.ts'
import { claim, claimEqual } from './claim.ts'

export const SESSION = '__session'
export const TRANSACTION = '__txn_'

/** Returns our cookies of a response; the host's own (a framework's preview or locale cookie) are ignored. */
export function ourCookies(response: BrowserResponse): string[] {
  return response.cookies
    .map(({ name }) => name)
    .filter((name) => name.startsWith(SESSION) || name.startsWith(TRANSACTION))
}

export function claimNoCookies(response: BrowserResponse, what: string): void {
  claimEqual(ourCookies(response), [], `${what} sets no cookie`)
}

export function claimNotStored(response: BrowserResponse, what: string): void {
  const value = response.headers.get('cache-control') ?? ''
  claim(
    value.includes('no-store') && value.includes('private'),
    `${what} is not cacheable (Cache-Control: ${value})`,
  )
}

/** Asserts that a text contains no token: each begins with a JSON object in base64url. */
export function claimNoToken(text: string, what: string): void {
  claim(!text.includes('eyJ'), `${what} contains no token`)
}

export function claimRedirect(response: BrowserResponse, expected: URL, what: string): void {
  claim([302, 303, 307].includes(response.status), `${what} redirects (status ${response.status})`)
  claimEqual(response.location?.href, expected.href, what)
}

/** Asserts that the browser is signed out: for `getSession` and for both guards. */
export async function claimSignedOut(browser: Browser, when: string): Promise<void> {
  for (const style of browser.host.styles) {
    const { sub } = await browser.whoami(style)
    claimEqual(sub, null, `${when}, there is no session (${style})`)
  }
  const page = await browser.send('/page')
  claim(!page.text.includes('user='), `${when}, the page is not shown`)
  claimEqual(
    page.location?.pathname,
    browser.url('/auth/login').pathname,
    `${when}, the page leads to the login`,
  )
  claimEqual((await browser.send('/api')).status, 401, `${when}, the API responds 401`)
}

export async function claimSignedIn(browser: Browser, user: string, when: string): Promise<void> {
  for (const style of browser.host.styles) {
    const { sub } = await browser.whoami(style)
    claim(
      typeof sub === 'string' && sub.includes(user),
      `${when}, the session is that of ${user} (${style}): ${sub}`,
    )
  }
}
