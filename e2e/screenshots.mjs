// node e2e/screenshots.mjs: takes the pictures of docs/images again, from a production build of the example.
// Needs the built packages (npm run build) and Chromium.
import { mkdirSync, statSync } from 'node:fs'
import { startDevProvider } from 'idp-dev-provider'
import { chromium } from 'playwright-core'
import { chromiumOptions } from '../tools/lib/chromium.mjs'
import { freePort } from '../tools/lib/ports.mjs'
import { bin, fromRoot, isMain, runNode } from '../tools/lib/run.mjs'
import { startServer, untilResponds } from '../tools/lib/server-process.mjs'

const example = fromRoot('examples/next')
const folder = fromRoot('docs/images')
const desktop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
const largest = 150_000
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1'

async function startExample(provider) {
  const built = await runNode([bin.next, 'build'], { cwd: example })
  if (built.code !== 0) throw new Error(`next build failed\n${built.output}`)
  const url = `http://localhost:${await freePort()}`
  provider.registerApp(url)
  const server = startServer([bin.next, 'start', '-H', 'localhost', '-p', new URL(url).port], {
    cwd: example,
    env: {
      ...provider.env,
      APP_BASE_URL: url,
      SESSION_STORE: 'memory',
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: undefined,
    },
  })
  await untilResponds(url, server)
  return { url, stop: () => server.stop() }
}

async function shoot(page, name) {
  const path = `${folder}/${name}.png`
  // Streamed content and the data that the browser fetches replace this text.
  await page.getByText('Loading…').first().waitFor({ state: 'detached' })
  await page.evaluate(async () => {
    await document.fonts.ready
    await Promise.all([...document.images].map((image) => image.decode()))
  })
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  const { size } = statSync(path)
  process.stdout.write(`${name}.png ${Math.round(size / 1000)} kB\n`)
  if (size > largest) throw new Error(`${name}.png is larger than ${largest / 1000} kB`)
}

/** A tour without a session, then as alice. */
async function tour(page, url) {
  await page.goto(url)
  await shoot(page, 'home')
  await page.goto(`${url}/profile`)
  await shoot(page, 'login')
  await page.getByRole('button', { name: 'Deny' }).click()
  await shoot(page, 'failure')
  await page.getByRole('link', { name: 'Try again' }).click()
  await page.locator('button[value=alice]').click()
  await page.waitForURL(`${url}/profile`)
  await shoot(page, 'profile')
  await page.goto(`${url}/client`)
  await page.getByRole('button', { name: '/api/me', exact: false }).first().click()
  await page.getByText('Status 200').waitFor()
  await shoot(page, 'client')
  await page.goto(`${url}/settings`)
  await shoot(page, 'settings')
  await page.goto(`${url}/inspector`)
  await shoot(page, 'inspector')
}

/** The dialogue of a transfer, up to its receipt. */
async function transfer(page, url, provider) {
  await page.goto(`${url}/transfer`)
  await page.getByRole('textbox', { name: 'Amount' }).fill('25.50')
  await page.getByRole('button', { name: 'Transfer', exact: true }).click()
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  const secret = await page.getByText('Secret:').textContent()
  await shoot(page, 'second-factor')
  await page.setViewportSize(phone)
  await shoot(page, 'second-factor-phone')
  await page.setViewportSize(desktop)
  await page
    .getByRole('textbox', { name: 'Code' })
    .fill(provider.mfa.totp(secret.replace(/^Secret:|\s/g, '')))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Transfer done' }).waitFor()
  await page.getByText('UTC').waitFor()
  await shoot(page, 'transfer')
}

async function accounts(page, url) {
  await page.goto(`${url}/accounts`)
  for (const label of ['GitHub', 'Google']) {
    await page.getByRole('link', { name: `Connect ${label}` }).click()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
  }
  await page.getByRole('button', { name: 'Get a token for GitHub' }).click()
  await page.getByText('Token for GitHub', { exact: true }).scrollIntoViewIfNeeded()
  await shoot(page, 'accounts')
}

/** A user who is signed in on a phone as well. */
async function devices(browser, page, url) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, userAgent: safari })
  const other = await context.newPage()
  await other.goto(`${url}/profile`)
  await other.locator('button[value=alice]').click()
  await other.waitForURL(`${url}/profile`)
  await page.goto(`${url}/devices`)
  await shoot(page, 'devices')
  await context.close()
}

async function run() {
  mkdirSync(folder, { recursive: true })
  const provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  const site = await startExample(provider)
  const browser = await chromium.launch(chromiumOptions())
  try {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: desktop,
      colorScheme: 'light',
    })
    const page = await context.newPage()
    await tour(page, site.url)
    await page.setViewportSize(phone)
    await page.reload()
    await shoot(page, 'inspector-phone')
    await page.setViewportSize(desktop)
    await transfer(page, site.url, provider)
    await accounts(page, site.url)
    await devices(browser, page, site.url)
    await page.setViewportSize(phone)
    for (const path of ['transfer', 'accounts', 'devices']) {
      await page.goto(`${site.url}/${path}`)
      await shoot(page, `${path}-phone`)
    }
    await page.setViewportSize(desktop)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(site.url)
    await shoot(page, 'home-dark')
  } finally {
    await browser.close()
    await site.stop()
    await provider.stop()
  }
}

if (isMain(import.meta)) await run()
