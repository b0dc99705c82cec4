import type { DevProvider, SignOptions } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import { freePort } from './fixtures/support/next-application.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile, openSignedIn } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import { pressTransfer, receipt } from './support/money.ts'
import type { OrdersApi } from './support/orders-api.ts'
import { startOrdersApi } from './support/orders-api.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
let api: OrdersApi
let profile: BrowserProfile | undefined

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  const port = await freePort()
  site = await startDemo(provider, { ORDERS_API_URL: `http://127.0.0.1:${port}` })
  api = await startOrdersApi(provider, site.url, port)
  browser = await startChromium({ provider })
})

afterEach(async () => {
  await Promise.all([profile?.leave(), site?.complaints.settle()])
  profile = undefined
})

afterAll(async () => {
  await browser?.close()
  await api?.stop()
  await provider?.stop()
  await site?.stop()
})

describe('the orders page', () => {
  const byServer = (page: Page) => page.getByRole('region', { name: 'Called by the server' })
  const byBrowser = (page: Page) => page.getByRole('region', { name: 'Called by the browser' })
  const refreshes = (): number =>
    provider.requests('token').filter(({ body }) => body['grant_type'] === 'refresh_token').length

  async function arrive(user: string): Promise<Page> {
    profile = await newProfile(browser)
    await openSignedIn(profile.page, `${site.url}/orders`, user)
    await byServer(profile.page).waitFor()
    return profile.page
  }

  async function load(page: Page): Promise<void> {
    await byBrowser(page).getByRole('button', { name: 'Load the orders' }).click()
    await byBrowser(page).getByText('Loaded by your browser.').waitFor()
  }

  test.each([
    ['alice', 'Teapot, cast iron'],
    ['bob', 'Coffee grinder'],
    ['mallory', 'No orders yet.'],
  ])('shows the orders of %s, requested by the server and by the browser', async (user, shown) => {
    const page = await arrive(user)
    await byServer(page).getByText(shown).waitFor()
    await load(page)
    await byBrowser(page).getByText(shown).waitFor()
    await load(page)
    const asked = profile?.responses.filter((one) => one.url().endsWith('/auth/access-token')) ?? []
    expect(asked.map((one) => one.status())).toEqual([200])
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('continues with one refresh when the token has expired meanwhile', async () => {
    provider.settings.accessTokenTtl = 1
    const page = await arrive('alice')
    provider.settings.accessTokenTtl = 3600
    const over = Date.now() + 2_100
    while (Date.now() < over) await new Promise((resolve) => setTimeout(resolve, 50))
    provider.clearRequests()
    await page.reload()
    await byServer(page).getByText('Teapot, cast iron').waitFor()
    await load(page)
    await page.reload()
    await byServer(page).getByText('Teapot, cast iron').waitFor()
    expect(refreshes()).toBe(1)
  })

  test('still has its own token after a popup for another API', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const page = await arrive('alice')
    await page.goto(`${site.url}/transfer`)
    const [popup] = await Promise.all([page.waitForEvent('popup'), pressTransfer(page, 'In a popup')])
    await popup.getByRole('textbox', { name: 'Code' }).fill(provider.mfa.totp(secret))
    await popup.getByRole('button', { name: 'Continue' }).click()
    await receipt(page).waitFor()
    // Tokens for two further APIs, of which each is a JWT.
    site.complaints.announce(/more than 3500 bytes of cookies/)
    await page.goto(`${site.url}/orders`)
    await byServer(page).getByText('Teapot, cast iron').waitFor()
    await load(page)
    await byBrowser(page).getByText('Teapot, cast iron').waitFor()
  })

  test('shows an error if no API was started, and if it cannot be reached', async () => {
    const alone = await startDemo(provider)
    onTestFinished(() => alone.stop())
    const lost = await startDemo(provider, { ORDERS_API_URL: `http://127.0.0.1:${await freePort()}` })
    onTestFinished(() => lost.stop())
    profile = await newProfile(browser)
    await openSignedIn(profile.page, `${alone.url}/orders`, 'alice')
    await profile.page.getByText('The orders API is not running.').waitFor()
    await profile.context.clearCookies()
    await openSignedIn(profile.page, `${lost.url}/orders`, 'alice')
    await byServer(profile.page).getByText('The orders API cannot be reached.').waitFor()
  })
})

describe('the orders API', () => {
  const now = (): number => Math.floor(Date.now() / 1000)
  const claims = (): Record<string, unknown> => ({
    iss: provider.issuer,
    aud: 'https://api.example.test/',
    sub: 'dev|alice',
    scope: 'openid read:things',
    iat: now(),
    exp: now() + 60,
  })
  const accessToken: SignOptions = { header: { typ: 'at+jwt' } }

  async function ask(authorization: string | undefined, headers: Record<string, string> = {}) {
    const all = authorization === undefined ? headers : { ...headers, authorization }
    const response = await fetch(`${api.url}/orders`, { headers: all })
    return { response, challenge: response.headers.get('www-authenticate'), text: await response.text() }
  }

  const bearer = async (changes: Record<string, unknown>, options = accessToken): Promise<string> =>
    `Bearer ${await provider.sign({ ...claims(), ...changes }, options)}`

  test('accepts an access token of the provider for it', async () => {
    const { response, text } = await ask(await bearer({}))
    expect(response.status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ owner: 'dev|alice' })
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  type Bearer = () => Promise<string> | string | undefined

  const refused: [title: string, authorization: Bearer, status: number, challenge: string][] = [
    ['none', () => undefined, 401, 'Bearer'],
    ['another scheme', () => 'Basic YTpi', 401, 'Bearer'],
    ['what is no JWT', () => 'Bearer opaque', 401, 'Bearer error="invalid_token"'],
    [
      'another audience',
      () => bearer({ aud: 'https://orders.example.test/' }),
      401,
      'Bearer error="invalid_token"',
    ],
    ['another issuer', () => bearer({ iss: 'https://other.example' }), 401, 'Bearer error="invalid_token"'],
    ['an expired one', () => bearer({ exp: now() - 1 }), 401, 'Bearer error="invalid_token"'],
    ['one that never expires', () => bearer({ exp: undefined }), 401, 'Bearer error="invalid_token"'],
    ['an ID token', () => bearer({}, { header: { typ: 'JWT' } }), 401, 'Bearer error="invalid_token"'],
    [
      'one without signature',
      async () => (await bearer({})).replace(/[^.]*$/, ''),
      401,
      'Bearer error="invalid_token"',
    ],
    ['one bound to a key', () => bearer({ cnf: { jkt: 'key' } }), 401, 'Bearer error="invalid_token"'],
    [
      'one without the scope',
      () => bearer({ scope: 'openid read:things:all' }),
      403,
      'Bearer error="insufficient_scope", scope="read:things"',
    ],
  ]

  test.each(refused)('rejects %s', async (_title, authorization, status, challenge) => {
    const result = await ask(await authorization())
    expect([result.response.status, result.challenge, result.text]).toEqual([status, challenge, ''])
  })

  test('lets a browser read its responses in the application only', async () => {
    const allowed = async (origin: string): Promise<string | null> =>
      (await ask(await bearer({}), { origin })).response.headers.get('access-control-allow-origin')
    expect(await allowed(site.url)).toBe(site.url)
    expect(await allowed('https://other.example')).toBeNull()
    const preflight = await fetch(`${api.url}/orders`, { method: 'OPTIONS', headers: { origin: site.url } })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization')
  })
})
