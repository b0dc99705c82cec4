import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile, openSignedIn } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import {
  choose,
  codeFor,
  dialogue,
  enterCode,
  pressTransfer,
  readSecret,
  receipt,
  wrong,
} from './support/money.ts'

const phone = { width: 390, height: 844 }
const tablet = { width: 800, height: 800 }
const desktop = { width: 1280, height: 800 }

let provider: DevProvider
let browser: Browser
let site: DemoSite
let profile: BrowserProfile

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  site = await startDemo(provider)
  browser = await startChromium({ provider })
})

beforeEach(() => provider.mfa.reset('alice'))

afterEach(() => Promise.all([profile?.leave(), site?.complaints.settle()]))

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  await site?.stop()
})

const at = (path: string): string => site.url + path

/** Opens a page as a signed-in user, in a new profile. */
async function newReader(path: string, viewport = desktop): Promise<BrowserProfile> {
  const opened = await newProfile(browser, { viewport })
  await openSignedIn(opened.page, at(path), 'alice')
  return opened
}

async function arrive(path: string, viewport = desktop): Promise<Page> {
  profile = await newReader(path, viewport)
  return profile.page
}

/** Whether a click in the middle of an element would reach it: it is on the screen, and nothing covers it. */
function isVisible(element: Locator): Promise<boolean> {
  return element.evaluate((target) => {
    const { left, top, width, height } = target.getBoundingClientRect()
    return document.elementFromPoint(left + width / 2, top + height / 2) === target
  })
}

describe('[J8] the transfer page', () => {
  test.each([
    ['a phone', phone],
    ['a tablet', tablet],
    ['a desktop', desktop],
  ])('shows Confirm and Cancel after a wrong code, on %s', async (_title, viewport) => {
    const page = await arrive('/transfer', viewport)
    profile.announce(400, '/auth/mfa/verify')
    site.complaints.announce(/invalid_grant/)
    await pressTransfer(page)
    await choose(page, 'Authenticator app')
    const code = provider.mfa.totp(await readSecret(page))
    await enterCode(page, wrong(code))
    await page.getByRole('alert').filter({ hasText: 'This code is wrong.' }).waitFor()
    for (const name of ['Confirm', 'Cancel'])
      expect([name, await isVisible(dialogue(page).getByRole('button', { name }))]).toEqual([name, true])
  })

  test('links to the inbox of the development provider, which shows the code', async () => {
    provider.mfa.enrollOob('alice', 'sms', '+15550100')
    const page = await arrive('/transfer')
    await pressTransfer(page)
    await choose(page, 'Text message to')
    const link = dialogue(page).getByRole('link', { name: 'inbox of the development provider' })
    const [inbox] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await inbox.getByText(codeFor(provider, 'alice')).waitFor()
    expect(inbox.url()).toBe(`${provider.issuer}/dev/inbox`)
  })

  test('shows the balance after each transfer, with any confirmation, and rejects more than that', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const page = await arrive('/transfer')
    const balance = page
      .getByRole('region', { name: 'Account' })
      .locator('div', { hasText: 'Balance' })
      .locator('dd')
    const before = await euros(balance)
    await pressTransfer(page)
    await choose(page, 'Authenticator app')
    await enterCode(page, provider.mfa.totp(secret))
    await receipt(page).waitFor()
    await expect.poll(() => euros(balance)).toBe(before - 25.5)
    profile.announce(401, '/api/transfers')
    await pressTransfer(page, 'At the provider')
    await page.getByRole('textbox', { name: 'Code' }).fill(provider.mfa.totp(secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('You have confirmed your identity.').waitFor()
    await page.getByRole('button', { name: 'Transfer', exact: true }).click()
    await receipt(page).waitFor()
    await expect.poll(() => euros(balance)).toBe(before - 51)
    await page.reload()
    expect(await euros(balance)).toBe(before - 51)
    profile.announce(400, '/api/transfers')
    await page.getByRole('textbox', { name: 'Amount' }).fill(String(before))
    await page.getByRole('radio', { name: 'At the provider' }).check()
    await page.getByRole('button', { name: 'Transfer', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'The amount exceeds your balance.' }).waitFor()
  })
})

async function euros(shown: Locator): Promise<number> {
  return Number((await shown.textContent())?.replace(/[^\d.]/g, ''))
}

describe('[J8] the layout', () => {
  test('has one row of navigation on a phone, with a menu that opens and closes', async () => {
    const page = await arrive('/', phone)
    const links = page.getByRole('navigation').getByRole('link')
    await page.getByRole('heading', { name: 'Hello, Alice' }).waitFor()
    const header = await page.getByRole('banner').boundingBox()
    expect(header?.height).toBeLessThan(80)
    expect(await links.count()).toBe(0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await links.filter({ hasText: 'Devices' }).click()
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await expect.poll(() => links.count()).toBe(0)
  })

  test.each([
    ['a phone', phone],
    ['a tablet', tablet],
    ['a desktop', desktop],
  ])('leaves no single tile in a row, on %s', async (_title, viewport) => {
    const page = await arrive('/', viewport)
    await page.getByRole('heading', { name: 'Hello, Alice' }).waitFor()
    const rows = await page.locator('.tiles').evaluateAll((lists) =>
      lists.map((list) => {
        const tops = [...list.children].map((tile) => tile.getBoundingClientRect().top)
        return [...new Set(tops)].map((top) => tops.filter((other) => other === top).length)
      }),
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const tilesPerRow of rows) expect(new Set(tilesPerRow).size).toBe(1)
  })
})

const source = (path: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../examples/next/${path}`, import.meta.url)), 'utf8')

describe('the code of a page', () => {
  let reader: BrowserProfile

  beforeAll(async () => {
    reader = await newReader('/')
  })

  afterEach(() => reader.complaints.settle())

  afterAll(() => reader?.leave())

  test.each([
    ['/', 'lib/auth.ts'],
    ['/profile', 'app/profile/page.tsx'],
    ['/client', 'app/client/client-profile.tsx'],
    ['/legacy', 'pages/legacy.tsx'],
    ['/orders', 'app/orders/page.tsx'],
    ['/transfer', 'app/transfer/actions.ts'],
    ['/accounts', 'app/accounts/page.tsx'],
    ['/settings', 'app/settings/actions.ts'],
    ['/devices', 'app/devices/actions.ts'],
    ['/inspector', 'app/inspector/page.tsx'],
  ])('[J8] %s shows the code of %s', async (path, file) => {
    const { page } = reader
    await page.goto(at(path))
    const fold = page.getByRole('main').locator('details')
    await fold.getByText('Show the code').click()
    const figure = fold.locator('figure').filter({ hasText: `examples/next/${file}` })
    expect(await figure.locator('pre').textContent()).toBe(await source(file))
  })
})
