import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile, openSignedIn } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import type { SentBody } from './support/https-front.ts'
import { choose, collectTokens, openTransfer, pressTransfer, receipt } from './support/money.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
let profile: BrowserProfile
let tokens: ReadonlySet<string>
let sent: readonly SentBody[]

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  tokens = collectTokens(provider)
  site = await startDemo(provider)
  browser = await startChromium({ provider, ignoreDefaultArgs: ['--disable-back-forward-cache'] })
})

beforeEach(() => {
  for (const user of ['alice', 'bob']) {
    provider.mfa.reset(user)
    provider.accounts.remove(user)
  }
})

afterEach(() => Promise.all([profile?.leave(), site?.complaints.settle()]))

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  await site?.stop()
})

const at = (path: string): string => site.url + path
const row = (page: Page, label: string) => page.getByRole('row').filter({ hasText: label })
const isProvider = (url: URL): boolean => url.origin === provider.origin

/** A new profile; what the application responds is recorded, to be searched for tokens. */
async function arrive(): Promise<Page> {
  profile = await newProfile(browser)
  sent = site.front.record()
  return profile.page
}

async function openAccounts(user: string): Promise<Page> {
  const page = await arrive()
  await openSignedIn(page, at('/accounts'), user)
  await page.getByRole('heading', { level: 1, name: 'Connected accounts' }).waitFor()
  return page
}

function expectNoTokens(): void {
  const texts = sent.map(({ chunks }) => Buffer.concat(chunks).toString())
  expect(texts.some((text) => text.includes('Connected accounts'))).toBe(true)
  for (const token of tokens) expect(texts.filter((text) => text.includes(token))).toEqual([])
}

/** Goes to the page of the provider and presses a button there. */
async function connect(page: Page, label: string, button = 'Connect'): Promise<void> {
  await page.getByRole('link', { name: `Connect ${label}` }).click()
  await page.getByRole('heading', { name: 'Connect an account' }).waitFor()
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.waitForURL((url) => url.pathname === '/accounts')
}

test('[S146, S195, S196] an account is connected, listed, used and disconnected', async () => {
  const page = await openAccounts('alice')
  await page.getByText('No connected accounts yet.').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await connect(page, 'GitHub')
  await page.getByText('The account is connected.').waitFor()
  await row(page, 'GitHub').getByText('repo').waitFor()
  expect(provider.accounts.list('alice').map(({ connection }) => connection)).toEqual(['github'])
  await row(page, 'GitHub').getByRole('button', { name: 'Get a token' }).click()
  await page.getByText('Token for GitHub', { exact: true }).waitFor()
  await page.getByText(/\d+ characters, (?:Opaque|JWT)/).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await row(page, 'GitHub').getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText('GitHub is disconnected.').waitFor()
  await page.getByText('No connected accounts yet.').waitFor()
  expect(provider.accounts.list('alice')).toEqual([])
  expectNoTokens()
})

test('a user who cancels sees a notice, and nothing is connected', async () => {
  const page = await openAccounts('alice')
  await connect(page, 'Google', 'Cancel')
  await page.getByText('You cancelled.').waitFor()
  expect(provider.accounts.list('alice')).toEqual([])
})

test('a wrong code connects nothing, and uses up the attempt', async () => {
  const page = await openAccounts('alice')
  site.complaints.announce(/CONNECT_FAILED/)
  provider.clearRequests()
  await page.getByRole('link', { name: 'Connect GitHub' }).click()
  await page.getByRole('heading', { name: 'Connect an account' }).waitFor()
  const state = provider.requests('account-connect')[0]?.json?.['state']
  await page.goto(at(`/auth/callback?connect_code=wrong&state=${state}`))
  await page.getByRole('alert').filter({ hasText: 'The account could not be connected.' }).waitFor()
  expect(provider.count('account-complete')).toBe(1)
  await page.goto(at(`/auth/callback?connect_code=wrong&state=${state}`))
  await page.waitForURL((url) => url.pathname === '/accounts')
  expect(provider.count('account-complete')).toBe(1)
  expect(provider.accounts.list('alice')).toEqual([])
  await connect(page, 'GitHub')
  await page.getByText('The account is connected.').waitFor()
})

test('a user who takes too long at the provider gets a notice there, and can start again', async () => {
  const page = await openAccounts('alice')
  await page.getByRole('link', { name: 'Connect GitHub' }).click()
  await page.getByRole('heading', { name: 'Connect an account' }).waitFor()
  provider.clock.advance(301)
  profile.announce(400, '/connect/account')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  provider.clock.reset()
  expect(provider.accounts.list('alice')).toEqual([])
  await page.goto(at('/accounts'))
  await connect(page, 'GitHub')
  await page.getByText('The account is connected.').waitFor()
})

test('going back to a finished connection connects nothing again', async () => {
  const page = await openAccounts('alice')
  await connect(page, 'GitHub')
  await page.getByText('The account is connected.').waitFor()
  const callback = profile.responses.find((one) => one.url().includes('/auth/callback?connect_code='))
  await page.goto(callback?.url() ?? '')
  await page.waitForURL((url) => url.pathname === '/accounts')
  await page.goto(at('/profile'))
  // A page out of the back/forward cache does not load again.
  await page.goBack({ waitUntil: 'commit' })
  await row(page, 'GitHub').waitFor()
  expect(provider.accounts.list('alice')).toHaveLength(1)
})

test('a connection that alice started connects nothing to bob, who signed in meanwhile', async () => {
  const page = await openAccounts('alice')
  await page.getByRole('link', { name: 'Connect GitHub' }).click()
  await page.getByRole('heading', { name: 'Connect an account' }).waitFor()
  const other = await profile.context.newPage()
  // Two sessions of the provider would be two browsers there; here it is the one of the application that counts.
  const providerCookies = await profile.context.cookies(provider.origin)
  await other.goto(at('/auth/logout'))
  await openSignedIn(other, at('/accounts'), 'bob')
  await profile.context.clearCookies({ domain: '127.0.0.1' })
  await profile.context.addCookies(providerCookies)
  await page.bringToFront()
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.waitForURL((url) => url.pathname === '/accounts')
  await page.getByText('No connected accounts yet.').waitFor()
  expect(await page.getByText('The account is connected.').count()).toBe(0)
  for (const user of ['alice', 'bob']) expect(provider.accounts.list(user)).toEqual([])
})

test('shows an error if the account API cannot be reached, and works again afterwards', async () => {
  const remove = provider.faults.set('account-list', { kind: 'respond', status: 503 })
  site.complaints.announce(/PROVIDER_FAILURE at account: .*FAILED_TO_LIST/)
  const page = await openAccounts('alice')
  await page.getByText('The provider could not list your accounts.').waitFor()
  remove()
  await page.reload()
  await page.getByText('No connected accounts yet.').waitFor()
})

test('a session in cookies has room for every token of this site', async () => {
  provider.mfa.enrollOob('alice', 'push')
  const page = await arrive()
  profile.announce(400, '/auth/mfa/verify')
  site.complaints.announce(/authorization_pending/)
  await openTransfer(page, site.url, 'alice')
  await pressTransfer(page)
  const polled = page.waitForResponse(at('/auth/mfa/verify'))
  await choose(page, 'Push message')
  await polled
  provider.mfa.inbox('alice')[0]?.approve()
  await receipt(page).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('heading', { level: 1, name: 'Connected accounts' }).waitFor()
  for (const label of ['GitHub', 'Google']) {
    await connect(page, label)
    await row(page, label).getByRole('button', { name: 'Get a token' }).click()
    await page.getByText(`Token for ${label}`, { exact: true }).waitFor()
  }
  await row(page, 'Google').getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText('Google is disconnected.').waitFor()
  await page.goto(at('/inspector'))
  await page.getByRole('row', { name: /https:\/\/bank\.example\.test\// }).waitFor()
  await page.getByRole('row', { name: /for GitHub/ }).waitFor()
  expect(await page.getByRole('row', { name: /for Google/ }).count()).toBe(0)
  await page.getByText(/of 7,000 bytes/).waitFor()
  expectNoTokens()
})

test('links to the page send no request to the provider before they are followed', async () => {
  const page = await arrive()
  await openSignedIn(page, at('/profile'), 'alice')
  provider.clearRequests()
  const isPageSegment = (response: Response): boolean =>
    response.request().headers()['next-router-segment-prefetch'] === '/accounts/__PAGE__'
  await Promise.all([page.waitForResponse(isPageSegment), page.goto(at('/'))])
  expect([provider.count('account-list'), provider.count('token')]).toEqual([0, 0])
})

test('without a session the page redirects to the login and back', async () => {
  const page = await arrive()
  profile.announce(401, '/auth/connect')
  await page.goto(at('/auth/connect?connection=github&returnTo=/accounts'))
  expect(isProvider(new URL(page.url()))).toBe(false)
  await page.goto(at('/accounts'))
  await page.waitForURL(isProvider)
})
