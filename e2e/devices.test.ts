import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../packages/idp-client/test/support/postgres-server.ts'
import { startRedis } from '../packages/idp-client/test/support/redis-server.ts'
import { startChromium } from './fixtures/support/chromium.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile, openSignedIn, ourCookies, requestWithCookies } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import { choose, dialogue, enterCode, openTransfer, pressTransfer, receipt } from './support/money.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
const profiles: BrowserProfile[] = []

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  site = await startDemo(provider, { SESSION_STORE: 'memory' })
  provider.registerApp(site.url, { frontChannelLogout: true })
  browser = await startChromium({ provider })
})

/** Every test has people of its own, since sessions stay in the store. */
let people = 0
let alice: string
let bob: string

beforeEach(async () => {
  people += 1
  alice = `alice-${people}`
  bob = `bob-${people}`
  for (const name of [alice, bob]) await provider.addUser({ name })
})

afterEach(() =>
  Promise.all([...profiles.splice(0).map((profile) => profile.leave()), site?.complaints.settle()]),
)

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  await site?.stop()
})

const agents = {
  firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  unknown: 'curl/8.5.0 <b>',
} as const

/** Opens the page with the devices, in a browser that calls itself so. */
async function openDevices(user: string, agent: keyof typeof agents, url = site.url): Promise<Page> {
  const profile = await newProfile(browser, { userAgent: agents[agent] })
  profiles.push(profile)
  await openSignedIn(profile.page, `${url}/devices`, user)
  await profile.page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
  return profile.page
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const isProvider = (url: URL): boolean => url.origin === provider.origin

/** Whether the next request of a browser still finds its session. */
async function isSignedIn(page: Page, url = site.url): Promise<boolean> {
  const response = await requestWithCookies(page.context(), `${url}/api/me`)
  return response.status() === 200
}

test('shows every browser of the user and ends another one, which has to log in at its next request', async () => {
  const here = await openDevices(alice, 'firefox')
  const phone = await openDevices(alice, 'safari')
  await openDevices(bob, 'unknown')
  await here.reload()
  await row(here, 'Firefox on Windows').getByText('this browser').waitFor()
  expect(await here.getByRole('row').count()).toBe(3)
  await row(phone, 'Safari on iOS').getByText('this browser').waitFor()
  expect(await accessibilityProblems(here)).toEqual([])
  await here.getByRole('button', { name: 'End Safari on iOS' }).click()
  await here.getByText('One session was ended.').waitFor()
  expect(await row(here, 'Safari on iOS').count()).toBe(0)
  expect(await isSignedIn(phone)).toBe(false)
  profiles.find(({ page }) => page === phone)?.announce(403, '/auth/login')
  await phone.getByRole('navigation').getByRole('link', { name: 'Profile' }).click()
  // The provider still knows this browser, and asks nevertheless.
  await phone.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  expect(await isSignedIn(here)).toBe(true)
})

test('ends all others at once, and no session of another user', async () => {
  const first = await openDevices(alice, 'safari')
  const second = await openDevices(alice, 'safari')
  const here = await openDevices(alice, 'firefox')
  const theirs = await openDevices(bob, 'unknown')
  await row(theirs, 'Unknown browser').waitFor()
  await here.getByRole('button', { name: 'End all other sessions' }).click()
  await here.getByText('2 sessions were ended.').waitFor()
  expect(await Promise.all([first, second, here, theirs].map((page) => isSignedIn(page)))).toEqual([
    false,
    false,
    true,
    true,
  ])
})

test('an id of another user ends nothing', async () => {
  const desktop = await openDevices(alice, 'firefox')
  const phone = await openDevices(alice, 'safari')
  await desktop.reload()
  const id = await desktop.getByRole('button', { name: 'End Safari on iOS' }).getAttribute('value')
  await openDevices(bob, 'safari')
  const theirs = await openDevices(bob, 'firefox')
  const button = theirs.getByRole('button', { name: 'End Safari on iOS' })
  await button.evaluate((element, value) => element.setAttribute('value', String(value)), id)
  await button.click()
  await theirs.getByText('This session has already ended.').waitFor()
  expect(await isSignedIn(phone)).toBe(true)
})

test('an iframe on the logout page of the provider, another site, ends the session of that browser', async () => {
  const here = await openDevices(alice, 'firefox')
  const phone = await openDevices(alice, 'safari')
  const frames = profiles[0]?.responses ?? []
  await here.goto(`${provider.issuer}/oidc/logout?client_id=${provider.clientId}`)
  await here.getByText('You are signed out.').waitFor()
  const frame = frames.find((response) => response.url().includes('/auth/frontchannel-logout'))
  expect(frame?.status()).toBe(200)
  expect(await frame?.request().allHeaders()).toMatchObject({
    'sec-fetch-dest': 'iframe',
    'sec-fetch-site': 'cross-site',
  })
  expect(await frame?.allHeaders()).not.toHaveProperty('set-cookie')
  // The session cookie is still there: nothing but the session in the store has ended.
  expect((await here.context().cookies(site.url)).map(({ name }) => name)).toContain('__session')
  expect([await isSignedIn(here), await isSignedIn(phone)]).toEqual([false, true])
  // No other notice has reached the application.
  expect(provider.logoutNotices()).toEqual([])
})

test('a logout that the provider notifies ends every browser of the user', async () => {
  // The provider does not know the certificate of the front, so it posts its notices past it.
  provider.registerApp(site.url, { backChannelLogout: `${site.internalUrl}/auth/backchannel-logout` })
  const here = await openDevices(alice, 'firefox')
  const phone = await openDevices(alice, 'safari')
  const theirs = await openDevices(bob, 'unknown')
  await provider.endSessions(alice)
  const responses = provider.logoutNotices().map(({ status }) => status)
  expect(responses).toContain(200)
  expect(await Promise.all([here, phone, theirs].map((page) => isSignedIn(page)))).toEqual([
    false,
    false,
    true,
  ])
  await here.reload()
  await here.waitForURL(isProvider)
})

test('a transfer and its second factor work with the session in a store', async () => {
  const { secret } = provider.mfa.enrollOtp(alice)
  const profile = await newProfile(browser)
  profiles.push(profile)
  const { page } = profile
  await openTransfer(page, site.url, alice)
  await pressTransfer(page)
  await choose(page, 'Authenticator app')
  await dialogue(page).getByRole('textbox', { name: 'Code' }).waitFor()
  await enterCode(page, provider.mfa.totp(secret))
  await receipt(page).waitFor()
  await page.goto(`${site.url}/inspector`)
  await page.getByText('memory of this server').waitFor()
  await page.getByRole('row', { name: /https:\/\/bank\.example\.test\// }).waitFor()
  expect(await ourCookies(profile, site.url)).toEqual(['__session'])
})

test('with sessions in cookies the page says why there is no list, and how to get one', async () => {
  const plain = await startDemo(provider)
  onTestFinished(() => plain.stop())
  const page = await openDevices(alice, 'firefox', plain.url)
  await page.getByRole('heading', { name: 'Needs a session store' }).waitFor()
  await page.getByText('npm run demo -- --store memory').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
})

test.each([
  ['redis', 'REDIS_URL', startRedis, 'Redis'],
  ['postgres', 'DATABASE_URL', startPostgres, 'PostgreSQL'],
] as const)('with sessions in %s', async (store, variable, startServer, shown) => {
  const server = await startServer()
  onTestFinished(() => server.stop())
  const stored = await startDemo(provider, { SESSION_STORE: store, [variable]: server.url })
  onTestFinished(() => stored.stop())
  const here = await openDevices(alice, 'firefox', stored.url)
  const phone = await openDevices(alice, 'safari', stored.url)
  await here.reload()
  await here.getByRole('button', { name: 'End Safari on iOS' }).click()
  await here.getByText('One session was ended.').waitFor()
  expect(await isSignedIn(phone, stored.url)).toBe(false)
  await here.goto(`${stored.url}/inspector`)
  await here.getByText(shown, { exact: true }).waitFor()
})
