import type { Browser, BrowserResponse } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractHost } from './host.ts'

export const SESSION = '__session'
export const TRANSACTION = '__txn_'

/** Returns our cookies of a response; the host's own (a framework's preview or locale cookie) are ignored. */
export function ourCookies(answer: BrowserResponse): string[] {
  return answer.cookies
    .map(({ name }) => name)
    .filter((name) => name.startsWith(SESSION) || name.startsWith(TRANSACTION))
}

export function claimNoCookies(answer: BrowserResponse, what: string): void {
  claimEqual(ourCookies(answer), [], `${what} sets no cookie`)
}

export function claimNotStored(answer: BrowserResponse, what: string): void {
  const value = answer.headers.get('cache-control') ?? ''
  claim(
    value.includes('no-store') && value.includes('private'),
    `${what} is not cacheable (Cache-Control: ${value})`,
  )
}

export function claimRedirect(answer: BrowserResponse, expected: URL, what: string): void {
  claim([302, 303, 307].includes(answer.status), `${what} redirects (status ${answer.status})`)
  claimEqual(answer.location?.href, expected.href, what)
}

/** Asserts that the browser is signed out: for `getSession` and for both guards. */
export async function claimSignedOut(host: ContractHost, browser: Browser, when: string): Promise<void> {
  for (const style of host.styles) {
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
  claimEqual((await browser.send('/api')).status, 401, `${when}, the API answers 401`)
}

export async function claimSignedIn(
  host: ContractHost,
  browser: Browser,
  user: string,
  when: string,
): Promise<void> {
  for (const style of host.styles) {
    const { sub } = await browser.whoami(style)
    claim(
      typeof sub === 'string' && sub.includes(user),
      `${when}, the session is that of ${user} (${style}): ${sub}`,
    )
  }
}
