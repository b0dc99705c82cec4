import { generateSessionCookies } from 'idp-client/testing'
import type { Browser, BrowserContext, Page, Response } from 'playwright-core'
import { SECRET } from './demo-site.ts'

/** One person with a browser profile of their own, and what the browser complained about meanwhile. */
export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors on the console and uncaught ones, of all tabs. */
  readonly complaints: readonly string[]
  /** Responses to all tabs, in the order of their arrival. */
  readonly responses: readonly Response[]
  leave(): Promise<void>
}

/** Opens a new browser profile that accepts the throw-away certificates. */
export async function newVisitor(
  browser: Browser,
  options: { readonly viewport?: { width: number; height: number }; readonly userAgent?: string } = {},
): Promise<Visitor> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
  const complaints: string[] = []
  const responses: Response[] = []
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (event) => complaints.push(String(event.error())))
  context.on('response', (response) => responses.push(response))
  return { context, page: await context.newPage(), complaints, responses, leave: () => context.close() }
}

/** Chooses a user on the page of the provider, which the browser must have reached. */
export async function enterAs(page: Page, user: string): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await page.locator(`button[name=user][value=${user}]`).click()
}

/** Opens a protected page and signs in on the way to it. */
export async function signIn(page: Page, url: string, user: string): Promise<void> {
  await page.goto(url)
  await enterAs(page, user)
  await page.waitForURL(url)
}

/** Puts a session of somebody into the profile that was last used the given number of seconds ago. */
export async function plantSession(
  { context }: Visitor,
  url: string,
  { sub, usedAgo }: { readonly sub: string; readonly usedAgo: number },
): Promise<void> {
  const now = Math.floor(Date.now() / 1000) - usedAgo
  const cookies = await generateSessionCookies({ user: { sub, name: sub } }, { secret: SECRET, now })
  await context.addCookies(
    cookies.map(({ name, value }) => ({ name, value, url, httpOnly: true, secure: true })),
  )
}

/** Names of the cookies of ours that a profile holds for a site. */
export async function ourCookies({ context }: Visitor, url: string): Promise<string[]> {
  const cookies = await context.cookies(url)
  return cookies.map(({ name }) => name).filter((name) => /^__(?:session|txn_)/.test(name))
}

/** Takes all cookies of a site away, and leaves those of others. */
export async function forget({ context }: Visitor, url: string): Promise<void> {
  await context.clearCookies({ domain: new URL(url).hostname })
}

/** Brings a tab to the front, as a person does who clicks on it. */
export async function takeFocus(page: Page): Promise<void> {
  await page.bringToFront()
  // Headless tabs believe that they always have the focus, so none of them is told that it got it.
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
}
