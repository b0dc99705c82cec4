import { equal, match, ok } from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'

/** Opens a page of the example as a user, which starts a login, and returns the page that the login returned to. */
async function logIn(context, base, user) {
  const page = await context.newPage()
  await page.goto(`${base}/account`)
  await page.getByRole('button', { name: user }).click()
  await page.waitForURL(`${base}/account`)
  await page.getByText('Signed in').waitFor()
  return page
}

/** Notes requests of the profile route, and what Vue reports in the console: differences from the server's page. */
function observe(context) {
  const seen = { profileRequests: 0, errors: [] }
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/auth/profile') seen.profileRequests++
  })
  context.on('console', (message) => {
    if (message.type() === 'error') seen.errors.push(message.text())
  })
  context.on('weberror', (event) => seen.errors.push(String(event.error())))
  return seen
}

/** A page with the user needs no request, and is stored nowhere. */
async function visitOwnPage(page, base, seen) {
  const before = seen.profileRequests
  const response = await page.goto(`${base}/account`)
  const html = await response.text()
  match(html, /Signed in.*__NUXT_DATA__.*alice/s)
  ok(!/token|id_?token/i.test(html.split('__NUXT_DATA__')[1]), 'no token in the page')
  equal(response.headers()['cache-control'], 'private, no-store')
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('link', { name: 'Account' }).click()
  await page.waitForURL(`${base}/account`)
  await page.locator('#user').waitFor()
  equal(seen.profileRequests, before, 'requests for the profile')
}

/** A page that Nitro stores for all users is rendered without one, also for the first who requests it. */
async function visitSharedPage(page, url, seen) {
  const before = seen.profileRequests
  const response = await page.goto(url)
  const html = await response.text()
  match(html, /Signed out/)
  ok(!/alice/i.test(html), `${url} without a user`)
  await page.getByText('Signed in').waitFor()
  equal(seen.profileRequests, before + 1, `requests for the profile on ${url}`)
}

/** Pages that are rendered at once for two users and nobody have their own user. */
async function requestAtOnce(contexts, base) {
  const requests = contexts.flatMap(([context, user]) =>
    Array.from({ length: 10 }, async () => {
      const html = await (await context.request.get(base)).text()
      const users = ['alice', 'bob'].filter((name) => new RegExp(name, 'i').test(html))
      equal(users.join(), user)
    }),
  )
  await Promise.all(requests)
}

/** Variables of an application that is not configured. */
const unconfigured = {
  APP_BASE_URL: undefined,
  IDP_DOMAIN: undefined,
  IDP_CLIENT_ID: undefined,
  IDP_CLIENT_SECRET: undefined,
}

const isUnavailable = /The sign-in is not available/

/** Without a configuration users are not told what is missing, but the log is; pages for everyone are shown. */
async function requestUnconfigured(base, output) {
  const get = async (path, accept) => {
    const response = await fetch(base + path, { headers: { accept } })
    return { status: response.status, body: await response.text() }
  }
  const page = await get('/account', 'text/html')
  match(page.body, isUnavailable)
  for (const { body, status } of [page, await get('/account', 'application/json')]) {
    equal(status, 500)
    ok(!/IDP_|configuration/i.test(body), body)
  }
  match(output(), /cause: InvalidConfigurationError.*IDP_DOMAIN/s)
  equal((await get('/', 'text/html')).status, 200)
}

/** If the browser cannot find out whether a user is signed in, it says so instead of the page, until it can. */
async function navigateWithoutProfile(context, base) {
  const page = await context.newPage()
  await page.goto(base)
  await context.route('**/auth/profile', (route) => route.abort())
  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByText(isUnavailable).waitFor()
  equal(await page.locator('#user').count(), 0)
  await context.unroute('**/auth/profile')
  await page.goto(`${base}/account`)
  await page.getByRole('button', { name: /alice/i }).waitFor()
}

/** The client of the module serves below the base path of Nuxt, which a user never leaves. */
async function visitBelowBasePath(browser, base, output) {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(`${base}/shop/`)
    await page.getByText('Signed out').waitFor()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('button', { name: /alice/i }).click()
    await page.waitForURL(`${base}/shop/account`)
    match(await page.locator('#user').innerText(), /alice/)
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText('Signed in').waitFor()
    await page.goto(`${base}/shop/auth/logout?returnTo=/shop/`)
    await page.getByText('Signed out').waitFor()
    ok(!output().includes('BASE_PATH_MISSING'), 'no notice')
  } finally {
    await context.close()
  }
}

const shop = { NUXT_APP_BASE_URL: '/shop/' }

/** Visits the example with the module as two users. `runExample` runs it once more, with other variables. */
export async function visit(browser, base, runExample) {
  const [alice, bob, nobody] = await Promise.all([1, 2, 3].map(() => browser.newContext()))
  try {
    const seen = observe(alice)
    const page = await logIn(alice, base, /alice/i)
    await logIn(bob, base, /bob/i)
    await visitOwnPage(page, base, seen)
    for (const path of ['/about', '/terms']) await visitSharedPage(page, base + path, seen)
    const contexts = [
      [alice, 'alice'],
      [bob, 'bob'],
      [nobody, ''],
    ]
    await requestAtOnce(contexts, base)
    await page.getByRole('link', { name: 'Log out' }).click()
    await page.getByText('Signed out').waitFor()
    await requestAtOnce([[alice, ''], ...contexts.slice(1)], base)
    equal(seen.errors.join('\n'), '', 'errors in the console')
    await navigateWithoutProfile(nobody, base)
    await runExample(unconfigured, requestUnconfigured)
    await runExample(shop, (at, output) => visitBelowBasePath(browser, at, output), '/shop')
    await runExample({ ...shop, FRAMEWORK_PUBLIC_BASE_PATH: '/other' }, async (at, output) => {
      await fetch(at)
      // The output of a process may arrive after its response.
      while (!output().includes('BASE_PATH_MISSING')) await setTimeout(20)
      match(output(), /Set FRAMEWORK_PUBLIC_BASE_PATH=\/shop,.*BASE_PATH_MISSING/)
    })
  } finally {
    await Promise.all([alice, bob, nobody].map((context) => context.close()))
  }
}
