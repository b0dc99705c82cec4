import { generateSessionCookies } from 'idp-client/testing'
import type {
  APIRequestContext,
  APIResponse,
  Browser,
  BrowserContext,
  ConsoleMessage,
  Page,
  Request,
  Response,
} from 'playwright-core'
import { Complaints } from './complaints.ts'
import { SECRET } from './demo-site.ts'

/** One user with a browser profile of their own. */
export interface BrowserProfile {
  readonly context: BrowserContext
  readonly page: Page
  /** Requests of all tabs, in the order in which they were sent. */
  readonly requests: readonly Request[]
  /** Responses to all tabs, in the order of their arrival. */
  readonly responses: readonly Response[]
  /** Errors and warnings on the console of all tabs, and uncaught exceptions. */
  readonly complaints: Complaints
  /** Expects that the browser reports a failed request on its console. A pattern stands for a path with an id. */
  announce(status: number, path: string | RegExp): void
  /**
   * Closes the browser profile.
   *
   * @throws if the console showed an error or a warning that was not announced, or not one that was
   */
  leave(): Promise<void>
}

/** Returns `403 /auth/login` for a request that failed, and the whole message otherwise. */
function toComplaint(message: ConsoleMessage): string {
  const { url } = message.location()
  const status = /^Failed to load resource: the server responded with a status of (\d+)/.exec(
    message.text(),
  )?.[1]
  return status === undefined
    ? `${message.type()}: ${message.text()} (${url})`
    : `${status} ${new URL(url).pathname}`
}

/** Opens a new browser profile. */
export async function newProfile(
  browser: Browser,
  options: { readonly viewport?: { width: number; height: number }; readonly userAgent?: string } = {},
): Promise<BrowserProfile> {
  const context = await browser.newContext(options)
  const complaints = new Complaints('the browser')
  const requests: Request[] = []
  const responses: Response[] = []
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.add(toComplaint(message))
  })
  context.on('weberror', (event) => complaints.add(`uncaught: ${String(event.error())}`))
  context.on('request', (request) => requests.push(request))
  context.on('response', (response) => responses.push(response))
  return {
    context,
    page: await context.newPage(),
    requests,
    responses,
    complaints,
    announce: (status, path) =>
      complaints.announce(
        typeof path === 'string' ? `${status} ${path}` : new RegExp(`^${status} ${path.source}$`),
      ),
    async leave() {
      try {
        await complaints.settle()
      } finally {
        await context.close()
      }
    },
  }
}

/** Returns the URLs that scripts of a site have requested from other origins. */
export function foreignFetches({ requests }: BrowserProfile, siteUrl: string): string[] {
  const foreign = requests.filter((request) => new URL(request.url()).origin !== new URL(siteUrl).origin)
  return foreign.filter((request) => request.resourceType() === 'fetch').map((request) => request.url())
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

/** Opens a page as a user who was signed in by requests, for tests that are not about the login. */
export async function openSignedIn(page: Page, url: string, user: string): Promise<void> {
  const { request } = page.context()
  // Node.js sends the requests, which does not know the certificates that the browser trusts.
  const options = { ignoreHTTPSErrors: true }
  const login = await request.get(new URL('/auth/login', url).href, options)
  const [, action] = /<form method="post" action="([^"]+)"/.exec(await login.text()) ?? []
  if (action === undefined) throw new Error(`${login.url()} has no form (status ${login.status()})`)
  const form = new URL(action.replaceAll('&amp;', '&'), login.url())
  await request.post(form.href, { ...options, form: { user } })
  await page.goto(url)
}

/** Adds the session of a user to the profile, last used the given number of seconds ago. */
export async function plantSession(
  { context }: BrowserProfile,
  url: string,
  { sub, usedAgo }: { readonly sub: string; readonly usedAgo: number },
): Promise<void> {
  const now = Math.floor(Date.now() / 1000) - usedAgo
  const cookies = await generateSessionCookies({ user: { sub, name: sub } }, { secret: SECRET, now })
  await context.addCookies(
    cookies.map(({ name, value }) => ({ name, value, url, httpOnly: true, secure: true })),
  )
}

/** Requests a URL of the application with the cookies of a profile. */
export function requestWithCookies(
  context: BrowserContext,
  url: string,
  options: Parameters<APIRequestContext['get']>[1] = {},
): Promise<APIResponse> {
  // Node.js sends it, which does not know the certificates that the browser trusts.
  return context.request.get(url, { ...options, ignoreHTTPSErrors: true })
}

/** Names of the cookies of ours that a profile holds for a site. */
export async function ourCookies({ context }: BrowserProfile, url: string): Promise<string[]> {
  const cookies = await context.cookies(url)
  return cookies.map(({ name }) => name).filter((name) => /^__(?:session|txn_)/.test(name))
}

/** Takes all cookies of a site away, and leaves those of others. */
export async function forget({ context }: BrowserProfile, url: string): Promise<void> {
  await context.clearCookies({ domain: new URL(url).hostname })
}

/** Brings a tab to the front, like a click on it. */
export async function takeFocus(page: Page): Promise<void> {
  await page.bringToFront()
  // Headless tabs believe that they always have the focus, so none of them is told that it got it.
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
}
