import type { Page } from '@playwright/test'
import { kitError } from './kit-error.ts'

export interface SignInOptions {
  /** Path of the login route; default `/auth/login`. */
  readonly loginPath?: string
}

/**
 * Whether the App Router of Next.js redirects by a script of this document: until then the URL is that with which it was loaded. The
 * text stays in the document after a redirect within it.
 */
const IS_REDIRECTING = `document.documentElement.outerHTML.includes('NEXT_REDIRECT') &&
  performance.getEntriesByType('navigation')[0]?.name === location.href`

/** The buttons of the login page of `idp-dev-provider`. Pages of the application may have buttons of the same name. */
const BUTTONS = 'form[action*="/interaction/"] button[name="user"][value]'

/** Pauses between looks at a page that redirects, in milliseconds, and their number: the development server compiles the next page. */
const [PAUSE, LOOKS] = [50, 600]

/**
 * Waits while the page is about to show another one: the App Router responds 200, and redirects by a script. `goto` would compete with
 * that, fail, or lose the URL to return to.
 */
async function awaitRedirect(page: Page): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    // Rejects while the browser navigates.
    if (!(await page.evaluate(IS_REDIRECTING).catch(() => true))) break
    await page.waitForTimeout(PAUSE)
  }
  await page.waitForLoadState()
}

/**
 * Signs a user in on the login page of `idp-dev-provider`, and waits until the browser is back at the application. Opens the login
 * route first, unless the page shows the login page already, as after a redirect by a guard. Does nothing more if the provider still
 * knows the user and shows no page.
 *
 * @example
 * await page.goto('/account')
 * await signIn(page, 'bob')
 */
export async function signIn(
  page: Page,
  user = 'alice',
  { loginPath = '/auth/login' }: SignInOptions = {},
): Promise<void> {
  const buttons = page.locator(BUTTONS)
  await awaitRedirect(page)
  let shown = await buttons.all()
  if (shown.length === 0) {
    const response = await page.goto(loginPath)
    shown = await buttons.all()
    if (shown.length === 0 && response?.ok()) return
    if (shown.length === 0)
      throw kitError(
        `the login route leads to a page with status ${response?.status()}, not to a login page.`,
      )
  }
  const names = await Promise.all(shown.map((button) => button.getAttribute('value')))
  const button = shown[names.indexOf(user)]
  if (!button)
    throw kitError(
      `the login page has no user of the name that signIn was called with; it has ${names.join(', ')}.`,
    )
  const { origin } = new URL(page.url())
  await button.click()
  await page.waitForURL((url) => url.origin !== origin)
}
