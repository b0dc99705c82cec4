import { equal, match, ok } from 'node:assert/strict'

/** Waits for `/`, which says whether a user is signed in, or has only the link that follows from it. */
const untilHome = (page, isSignedIn) =>
  page
    .getByText(isSignedIn ? 'Signed in' : 'Signed out')
    .or(page.getByRole('link', { name: isSignedIn ? 'Log out' : 'Log in' }))
    .first()
    .waitFor()

/** Follows the link to `/account`; without a link, enters the address. */
async function openAccount(page, base) {
  const link = page.getByRole('link', { name: 'Account' })
  if ((await link.count()) > 0) await link.click()
  else await page.goto(`${base}/account`)
}

/**
 * Visits an example as a user: the protected page starts a login and is shown after it, links and the back button work, and
 * so does logging out. The pages are those that every example has: `/`, `/account`, `/api/me`.
 */
export async function visitExample(browser, base) {
  const context = await browser.newContext()
  const problems = []
  context.on('weberror', (event) => problems.push(String(event.error())))
  try {
    const page = await context.newPage()
    await page.goto(base)
    await untilHome(page, false)
    equal((await context.request.get(`${base}/api/me`)).status(), 401, '/api/me without a session')

    await openAccount(page, base)
    await page.getByRole('button', { name: /alice/i }).click()
    await page.waitForURL(`${base}/account`)
    const me = await context.request.get(`${base}/api/me`)
    equal(me.status(), 200, '/api/me with a session')
    const { sub } = await me.json()
    match(sub, /alice/)
    const shown = await page.locator('#user').innerText()
    ok(shown.includes(sub), `/account shows ${sub}, not ${shown}`)

    await page.getByRole('link', { name: 'Home' }).click()
    await page.waitForURL(`${base}/`)
    await untilHome(page, true)
    await openAccount(page, base)
    await page.waitForURL(`${base}/account`)
    await page.locator('#user').waitFor()
    await page.goBack()
    await page.waitForURL(`${base}/`)
    await untilHome(page, true)

    await page.getByRole('link', { name: 'Log out' }).click()
    await untilHome(page, false)
    equal((await context.request.get(`${base}/api/me`)).status(), 401, '/api/me after the logout')
    const cookies = await context.cookies(base)
    ok(!cookies.some(({ name }) => /^__session(?:__\d+)?$/.test(name)), 'the session cookie is gone')
    equal(problems.join('\n'), '', 'exceptions in the browser')
  } finally {
    await context.close()
  }
}

/**
 * Uses the form of `/account`: its action stores a text in the session, and does not run once the session is gone. The
 * browser is then at the login, or an alert says why.
 */
export async function visitAction(browser, base) {
  const context = await browser.newContext()
  const save = async (page, theme) => {
    await page.waitForLoadState('networkidle')
    await page.getByLabel('Theme').fill(theme)
    await page.getByRole('button', { name: 'Save' }).click()
  }
  try {
    const page = await context.newPage()
    await page.goto(`${base}/account`)
    const login = page.getByRole('button', { name: /alice/i })
    await login.click()
    await page.waitForURL(`${base}/account`)
    await save(page, 'dark')
    await page.locator('#theme', { hasText: 'dark' }).waitFor()
    await page.reload()
    await page.locator('#theme', { hasText: 'dark' }).waitFor()
    // Also those of the provider, which would otherwise log in without a page.
    await context.clearCookies()
    await save(page, 'light')
    await login.or(page.getByRole('alert')).first().waitFor()
  } finally {
    await context.close()
  }
}
