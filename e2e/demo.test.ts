import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import { enterAs, newProfile } from './support/browser-profile.ts'
import type { DemoProgram } from './support/demo-program.ts'
import { startDemoProgram } from './support/demo-program.ts'

let demo: DemoProgram
let browser: Browser

beforeAll(async () => {
  demo = await startDemoProgram()
  browser = await startChromium()
})

afterAll(async () => {
  await browser?.close()
  await demo?.interrupt()
})

test('the demo command prints a URL where login, profile, protected pages and logout work, and ends with Ctrl-C', async () => {
  const profile = await newProfile(browser)
  const { page } = profile
  await page.goto(demo.url)
  await page.getByRole('main').getByRole('link', { name: 'Log in' }).click()
  await enterAs(page, 'alice')
  await page.getByRole('heading', { name: 'Hello, Alice' }).waitFor()
  for (const [link, heading, shown] of [
    ['Profile', 'Profile', 'Alice Anderson'],
    ['Client page', 'Client page', 'Alice Anderson'],
    ['Orders', 'Orders', 'Teapot, cast iron'],
    ['Transfer', 'Transfer money', 'Current account'],
    ['Accounts', 'Connected accounts', 'No connected accounts yet.'],
    ['Devices', 'Devices', 'Needs a session store'],
    ['Settings', 'Settings', 'Favourite colour'],
    ['Inspector', 'Session inspector', 'dev|alice'],
    ['Pages Router', 'Pages Router', 'Alice Anderson'],
  ] as const) {
    await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    await page.getByRole('main').getByText(shown).first().waitFor()
  }
  await page.getByRole('banner').getByRole('link', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Server-side login' }).waitFor()
  await page.goto(`${demo.url}/profile`)
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await profile.leave()
  expect(await demo.interrupt()).toBe(0)
  await demo.complaints.settle()
})
