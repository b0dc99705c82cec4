import { equal, match, ok } from 'node:assert/strict'

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

/** Visits the example with the module as two users. */
export async function visit(browser, base) {
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
  } finally {
    await Promise.all([alice, bob, nobody].map((context) => context.close()))
  }
}
