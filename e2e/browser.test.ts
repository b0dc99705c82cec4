import { generateCookieHeader } from 'idp-client/testing'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startCachingProxy } from './fixtures/support/caching-proxy.ts'
import { startChromium } from './fixtures/support/chromium.ts'
import { accessibilityProblems, tabTo } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import {
  enterAs,
  foreignFetches,
  forget,
  newProfile,
  ourCookies,
  plantSession,
  requestWithCookies,
  signIn,
  takeFocus,
} from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { SECRET, startDemo } from './support/demo-site.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
let profile: BrowserProfile
const sites: DemoSite[] = []

async function start(...options: Parameters<typeof startDemo>): Promise<DemoSite> {
  const started = await startDemo(...options)
  sites.push(started)
  return started
}

async function arrive(): Promise<Page> {
  profile = await newProfile(browser)
  return profile.page
}

const pages = [
  '/',
  '/profile',
  '/client',
  '/orders',
  '/transfer',
  '/accounts',
  '/devices',
  '/settings',
  '/inspector',
  '/legacy',
]

const at = (path: string): string => site.url + path
const signInHeading = (page: Page) => page.getByRole('heading', { name: 'Sign in', exact: true })
const welcome = (page: Page) => page.getByRole('heading', { name: 'Server-side login' })
const isProvider = (url: URL): boolean => url.origin === provider.origin
const toPath = (response: Response): string => new URL(response.url()).pathname
const findResponses = (path: string): Response[] => profile.responses.filter((one) => toPath(one) === path)

async function logOut(page: Page): Promise<void> {
  await page.getByRole('banner').getByRole('link', { name: 'Log out' }).click()
  await welcome(page).waitFor()
}

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  site = await start(provider)
  // Playwright turns the back/forward cache off, which people have.
  browser = await startChromium({ provider, ignoreDefaultArgs: ['--disable-back-forward-cache'] })
})

afterEach(() => Promise.all([profile?.leave(), ...sites.map(({ complaints }) => complaints.settle())]))

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  await Promise.all(sites.map((started) => started.stop()))
})

describe('a user', () => {
  /** Clicks a link of the navigation, and waits for what the page streams after its heading. */
  async function follow(page: Page, link: string, path: string, shown: string): Promise<void> {
    await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click()
    await page.waitForURL(at(path))
    await page.getByRole('heading', { level: 1, name: link === 'Inspector' ? 'Session' : link }).waitFor()
    await page.getByRole('main').getByText(shown).first().waitFor()
  }

  async function callApi(page: Page, router: string): Promise<string> {
    const call = page.locator('.api-call').filter({ hasText: router })
    await call.getByRole('button').click()
    await call.getByText('Status 200').waitFor()
    return (await call.locator('pre').textContent()) ?? ''
  }

  test('logs in, sees pages of every kind, logs out and has to log in again [S204,S205,S206,S207]', async () => {
    const page = await arrive()
    await page.goto(at('/'))
    await page.getByRole('main').getByRole('link', { name: 'Log in' }).click()
    await enterAs(page, 'alice')
    await page.waitForURL(at('/'))
    await page.getByRole('heading', { name: 'Hello, Alice' }).waitFor()

    await follow(page, 'Profile', '/profile', 'Alice Anderson')
    await follow(page, 'Client page', '/client', 'Alice Anderson')
    expect(await callApi(page, 'App Router')).toContain('"sub": "dev|alice"')
    expect(await callApi(page, 'Pages Router')).toContain('"sub": "dev|alice"')
    await follow(page, 'Inspector', '/inspector', 'dev|alice')
    await follow(page, 'Pages Router', '/legacy', 'Alice Anderson')

    await logOut(page)
    expect(page.url()).toBe(at('/'))
    await page.getByRole('banner').getByRole('link', { name: 'Log in' }).click()
    await signInHeading(page).waitFor()
  })

  test('changes the session with a Server Action, which every later request reads', async () => {
    const page = await arrive()
    await signIn(page, at('/settings'), 'alice')
    await page.getByRole('radio', { name: 'teal' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved: teal.').waitFor()
    await page.reload()
    expect(await page.getByRole('radio', { name: 'teal' }).isChecked()).toBe(true)
    await page.goto(at('/legacy'))
    expect(await page.locator('.site').getAttribute('data-accent')).toBe('teal')
    await page.getByRole('main').getByText('Alice Anderson').waitFor()
  })

  test('never receives a token in a page, a payload or a response of the application', async () => {
    const page = await arrive()
    await signIn(page, at('/inspector'), 'alice')
    for (const path of [...pages, '/auth/profile', '/api/me']) {
      for (const headers of [{}, { rsc: '1' }]) {
        const response = await requestWithCookies(profile.context, at(path), { headers })
        expect([path, response.status()]).toEqual([path, 200])
        const text = await response.text()
        expect(text).toMatch(/Alice|alice/)
        // The session cookie, an ID token and a JWT access token all begin like this.
        expect(text).not.toMatch(/eyJ[\w-]{10}/)
      }
    }
  })

  test('with an expired session is redirected to the login, and back to the page', async () => {
    const page = await arrive()
    await plantSession(profile, site.url, { sub: 'test|carol', usedAgo: 10 })
    await page.goto(at('/inspector?tab=2'))
    await page.getByRole('row', { name: 'sub test|carol' }).waitFor()
    await plantSession(profile, site.url, { sub: 'test|carol', usedAgo: 86_400 + 60 })
    await page.reload()
    await enterAs(page, 'bob')
    await page.waitForURL(at('/inspector'))
    await page.getByRole('row', { name: 'sub dev|bob' }).waitFor()
  })

  test('logs in with the keyboard alone', async () => {
    const page = await arrive()
    await page.goto(at('/profile'))
    await page.waitForURL(isProvider)
    await tabTo(page, 'button[value=alice]')
    await page.keyboard.press('Enter')
    await page.waitForURL(at('/profile'))
    await tabTo(page, 'a[href="/auth/logout"]')
    await page.keyboard.press('Enter')
    await welcome(page).waitFor()
    await tabTo(page, 'a[href^="/auth/login"]')
    await page.keyboard.press('Enter')
    await signInHeading(page).waitFor()
  })

  test('opens pages that a screen reader can read: headings, landmarks, names', async () => {
    const page = await arrive()
    const problems: string[] = []
    const check = async (shown: string): Promise<void> => {
      problems.push(...(await accessibilityProblems(page)).map((problem) => `${shown}: ${problem}`))
    }
    const open = async (path: string): Promise<void> => {
      await page.goto(at(path))
      // Streamed and fetched content replaces this text.
      await page.getByText('Loading…').first().waitFor({ state: 'detached' })
      await check(path)
    }
    profile.announce(404, '/nowhere')
    profile.announce(400, '/auth/callback')
    site.complaints.announce(/MISSING_STATE/)
    for (const path of ['/', '/nowhere', '/auth/callback']) await open(path)
    await page.goto(at('/profile'))
    await signInHeading(page).waitFor()
    await check('the login')
    await enterAs(page, 'alice')
    await page.waitForURL(at('/profile'))
    for (const path of pages) await open(path)
    expect(problems).toEqual([])
  })
})

describe('tabs and history', () => {
  test('five tabs start logins, finish in another order, and each gets to its page', async () => {
    await arrive()
    const tabs: Page[] = []
    for (let number = 1; number <= 5; number += 1) {
      const tab = await profile.context.newPage()
      await tab.goto(at(`/auth/login?returnTo=${encodeURIComponent(`/legacy?tab=${number}`)}`))
      await tab.waitForURL(isProvider)
      tabs.push(tab)
    }
    expect(await ourCookies(profile, site.url)).toHaveLength(5)
    for (const number of [4, 1, 5, 2, 3]) {
      const tab = tabs[number - 1]
      if (!tab) throw new Error('no such tab')
      await enterAs(tab, 'alice')
      await tab.waitForURL(at(`/legacy?tab=${number}`))
      await tab.getByRole('main').getByText('Alice Anderson').waitFor()
    }
    // Each login took the place of the one before it.
    expect((await ourCookies(profile, site.url)).sort()).toEqual(['__session', '__session__ended'])
  })

  test('going back to a finished login redirects to the page', async () => {
    const page = await arrive()
    await signIn(page, at('/profile'), 'alice')
    const callback = findResponses('/auth/callback')[0]?.url() ?? ''
    const exchanges = provider.count('token')
    await page.goto(callback)
    expect(page.url()).toBe(at('/profile'))
    expect(provider.count('token')).toBe(exchanges)
    await page.goto(at('/auth/login?returnTo=/client'))
    await page.waitForURL(at('/client'))
    await page.goBack()
    await page.waitForURL(at('/profile'))
    await page.getByRole('main').getByText('Alice Anderson').waitFor()
  })

  test.each(['/profile', '/inspector', '/client', '/legacy'])(
    'going back after the logout does not show %s again',
    async (path) => {
      const page = await arrive()
      await signIn(page, at(path), 'alice')
      await page.getByRole('main').getByText('Alice Anderson').first().waitFor()
      await logOut(page)
      const [shown] = await Promise.all([
        page.waitForResponse((response) => isProvider(new URL(response.url())) && response.status() === 200),
        page.goBack(),
      ])
      expect(shown.request().isNavigationRequest()).toBe(true)
      await signInHeading(page).waitFor()
    },
  )

  test('other tabs notice a logout, at the latest on focus', async () => {
    const guarded = await arrive()
    // The hook asks at most every five seconds.
    await guarded.clock.install()
    await signIn(guarded, at('/client'), 'alice')
    profile.announce(401, '/auth/profile')
    const open = await profile.context.newPage()
    await open.clock.install()
    await open.goto(at('/'))
    const other = await profile.context.newPage()
    await other.goto(at('/'))
    await logOut(other)
    await open.clock.fastForward(6000)
    await takeFocus(open)
    await open.getByRole('banner').getByRole('link', { name: 'Log in' }).waitFor()
    const focus = async (): Promise<void> => {
      await guarded.clock.fastForward(6000)
      await takeFocus(guarded)
    }
    // A page that another tab has notified is navigating already and cannot take the focus. Both may start a navigation:
    // the second one aborts the first.
    await focus().catch(() => {})
    await expect.poll(() => isProvider(new URL(guarded.url())), { timeout: 60_000 }).toBe(true)
  })
})

describe('logins that fail', () => {
  test('a user who denies gets a page with a working link', async () => {
    const page = await arrive()
    profile.announce(400, '/auth/callback')
    await page.goto(at('/profile'))
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Login was not completed' }).waitFor()
    expect(findResponses('/auth/callback')[0]?.status()).toBe(400)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await ourCookies(profile, site.url)).toEqual([])
    await page.getByRole('link', { name: 'Try again' }).click()
    await enterAs(page, 'alice')
    await page.waitForURL(at('/profile'))
    await page.getByRole('main').getByText('Alice Anderson').waitFor()
  })

  test('a login whose cookies are lost restarts automatically, once', async () => {
    const page = await arrive()
    profile.announce(400, '/auth/callback')
    site.complaints.announce(/UNKNOWN_STATE/)
    await page.goto(at('/profile'))
    await page.waitForURL(isProvider)
    await forget(profile, site.url)
    await enterAs(page, 'alice')
    await page.waitForURL(at('/profile'))
    expect(findResponses('/auth/callback').map((response) => response.status())).toEqual([400, 302])
    expect(await ourCookies(profile, site.url)).toEqual(['__session'])
  })

  test('a browser that keeps no cookies of the application ends on a page, not in a loop', async () => {
    const forgetful = await start(provider)
    forgetful.front.withholdCookies()
    const page = await arrive()
    profile.announce(400, '/auth/callback')
    forgetful.complaints.announce(/UNKNOWN_STATE/)
    await page.goto(`${forgetful.url}/profile`)
    // Waited for from the start: the restart follows the callback at once.
    const restarted = page.waitForRequest((request) => request.url().includes('restarted=1'))
    await enterAs(page, 'alice')
    await restarted
    await expect.poll(() => findResponses('/auth/callback').length, { timeout: 30_000 }).toBe(2)
    await page.getByRole('heading', { name: 'This login is no longer valid' }).waitFor()
    // This is how the page of the first callback starts the login again.
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0)
    expect(findResponses('/auth/callback').map((response) => response.status())).toEqual([400, 400])
  })
})

describe('form_post', () => {
  let posting: DemoSite

  beforeAll(async () => {
    posting = await start(provider, { DEMO_RESPONSE_MODE: 'form_post' })
  })

  test('the callback comes as a POST from another site, and finds its login', async () => {
    const page = await arrive()
    await signIn(page, `${posting.url}/profile`, 'alice')
    await page.getByRole('main').getByText('Alice Anderson').waitFor()
    const [callback] = findResponses('/auth/callback')
    expect(callback?.request().method()).toBe('POST')
    expect(callback?.status()).toBe(303)
    expect(profile.responses.filter((one) => one.url().includes('code='))).toEqual([])
    expect(await ourCookies(profile, posting.url)).toEqual(['__session'])
    await logOut(page)
  })

  test('denied and abandoned logins end as without it', async () => {
    const page = await arrive()
    // The provider sends its form with the status of the error.
    profile.announce(400, /\/authorize\/[\w-]+/)
    profile.announce(400, '/auth/callback')
    posting.complaints.announce(/UNKNOWN_STATE/)
    await page.goto(`${posting.url}/profile`)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Login was not completed' }).waitFor()
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.waitForURL(isProvider)
    await forget(profile, posting.url)
    await enterAs(page, 'alice')
    await page.waitForURL(`${posting.url}/profile`)
    expect(findResponses('/auth/callback').map((one) => one.status())).toEqual([400, 400, 303])
    expect(await ourCookies(profile, posting.url)).toEqual(['__session'])
  })
})

test('with SameSite=Strict, too, a login ends on its page, although browsers withhold the cookie after a page of another site', async () => {
  const strict = await start(provider, { IDP_COOKIE_SAME_SITE: 'strict' })
  const page = await arrive()
  await signIn(page, `${strict.url}/profile`, 'alice')
  await page.getByRole('main').getByText('Alice Anderson').waitFor()
  expect(findResponses('/auth/callback').map((response) => response.status())).toEqual([200, 302])
  const [cookie] = (await profile.context.cookies(strict.url)).filter(({ name }) => name === '__session')
  expect(cookie?.sameSite).toBe('Strict')
})

describe('requests of the Next.js router', () => {
  const isPrefetch = (response: Response): boolean =>
    response.request().headers()['next-router-prefetch'] !== undefined
  /** The last request for a page that is prefetched. */
  const isPageSegment = (response: Response): boolean =>
    response.request().headers()['next-router-segment-prefetch']?.endsWith('/__PAGE__') ?? false

  /** Opens the first page and waits until the router has prefetched the pages of its links. */
  async function openHome(page: Page): Promise<void> {
    await page.goto(at('/'))
    await expect
      .poll(() => new Set(profile.responses.filter(isPageSegment).map(toPath)), { timeout: 30_000 })
      .toEqual(new Set(pages.filter((path) => !['/', '/legacy'].includes(path))))
  }

  test('prefetching the links of a page sets no cookie and requests nothing from the provider', async () => {
    const page = await arrive()
    const asked = provider.count('authorize')
    await openHome(page)
    for (const response of profile.responses.filter(isPrefetch))
      expect([toPath(response), await response.headerValue('set-cookie')]).toEqual([toPath(response), null])
    expect(await ourCookies(profile, site.url)).toEqual([])
    expect(provider.count('authorize')).toBe(asked)
  })

  test('a click on a link to a protected page opens the login, without a CORS error', async () => {
    const page = await arrive()
    profile.announce(403, '/auth/login')
    await openHome(page)
    await page.getByRole('navigation').getByRole('link', { name: 'Inspector' }).click()
    await enterAs(page, 'alice')
    await page.waitForURL(at('/inspector'))
    expect(foreignFetches(profile, site.url)).toEqual([])
  })

  test('a navigation of the router to the login route opens the login, without a CORS error', async () => {
    const page = await arrive()
    profile.announce(403, '/auth/login')
    await openHome(page)
    // The requests of a click on <Link href="/auth/login">; the example uses <a>.
    await page.evaluate("window.next.router.push('/auth/login?returnTo=%2Fclient')")
    await enterAs(page, 'alice')
    await page.waitForURL(at('/client'))
    const [byRouter, byBrowser] = findResponses('/auth/login')
    expect(byRouter?.status()).toBe(403)
    expect(await byRouter?.headerValue('set-cookie')).toBeNull()
    expect(byBrowser?.status()).toBe(302)
    expect(foreignFetches(profile, site.url)).toEqual([])
  })
})

describe('the production build', () => {
  const apis = ['/api/me', '/api/legacy-me']

  test('a badly configured shared cache stores no response for any of 20 users', async () => {
    const cache = await startCachingProxy(site.internalUrl)
    const now = Math.floor(Date.now() / 1000)
    const people = Array.from({ length: 20 }, (_, index) => `test|person-${String(index).padStart(2, '0')}`)
    const paths = [...pages, ...apis, '/auth/profile', '/auth/login', '/icon.svg', '/nowhere']
    const keepers = new Set<string>()
    for (const [index, sub] of people.entries()) {
      const session = { user: { sub }, internal: { createdAt: now - 4000 } }
      // Last used so long ago that every page which passes records the use.
      const cookie = await generateCookieHeader(session, { secret: SECRET, now: now - 400 })
      // Each browser starts elsewhere, so that each path is the first one of some browser.
      const start = index % paths.length
      for (const path of [...paths.slice(start), ...paths.slice(0, start)]) {
        const response = await fetch(cache.url + path, { redirect: 'manual', headers: { cookie } })
        const body = await response.text()
        const ours = response.headers.getSetCookie().filter((line) => line.startsWith('__session='))
        expect(people.filter((one) => one !== sub && body.includes(one))).toEqual([])
        for (const line of ours) {
          keepers.add(path)
          const headers = { cookie: line.split(';', 1)[0] ?? '' }
          const owner = await fetch(`${site.internalUrl}/api/me`, { headers })
          expect(await owner.json()).toMatchObject({ sub })
        }
      }
    }
    const kept = [...cache.stored].map(([path, { headers }]) => [path, headers.getSetCookie()])
    await cache.stop()
    // Pages do write the cookie, and what belongs to nobody stays cacheable.
    for (const path of [...pages, ...apis]) expect(keepers).toContain(path)
    expect(kept).toEqual([['/icon.svg', []]])
  })

  test('without any variable every guard denies access, even with a cookie that is valid elsewhere', async () => {
    const bare = await start()
    const page = await arrive()
    await plantSession(profile, bare.url, { sub: 'test|carol', usedAgo: 10 })
    for (const path of [...apis, '/auth/login', '/auth/profile']) {
      const response = await requestWithCookies(profile.context, bare.url + path, { maxRedirects: 0 })
      expect([path, response.status()]).toEqual([path, 500])
      expect(await response.text()).not.toContain('carol')
    }
    profile.announce(500, '/legacy')
    // Chromium asks for the icon of an error page in most runs.
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    // An error occurred in the Server Components render.
    profile.complaints.announce(/React error #441/)
    for (const sign of [/CONFIGURATION/, /InvalidConfigurationError/]) bare.complaints.announce(sign)
    const legacy = await page.goto(`${bare.url}/legacy`)
    expect(legacy?.status()).toBe(500)
    for (const path of pages.filter((one) => one !== '/legacy')) {
      // The status and the prerendered part of a page are sent before the guard decides.
      await page.goto(bare.url + path)
      await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
      expect(await page.content()).not.toContain('carol')
    }
    expect(await accessibilityProblems(page)).toEqual([])
    for (const name of ['IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_SECRET']) expect(bare.output()).toContain(name)
  })
})
