import { equal, match, ok } from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:tls'

const programs = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Returns the hash by which Chromium trusts the key of a provider, and no other unknown certificate. */
async function hashKey({ ca, origin }) {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), ca })
  await once(socket, 'secureConnect')
  const { publicKey } = new X509Certificate(socket.getPeerCertificate().raw)
  socket.destroy()
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')
}

/** Starts Chromium for the pages of examples. */
export async function startBrowser(provider) {
  const executablePath = programs.find((program) => program !== undefined && existsSync(program))
  if (executablePath === undefined)
    throw new Error('No Chromium found: install the package chromium, or name the program in CHROMIUM_PATH.')
  const { chromium } = await import('playwright-core')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  return chromium.launch({
    executablePath,
    args: [...args, `--ignore-certificate-errors-spki-list=${await hashKey(provider)}`],
  })
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
    await page.getByText('Signed out').waitFor()
    equal((await context.request.get(`${base}/api/me`)).status(), 401, '/api/me without a session')

    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('button', { name: /alice/i }).click()
    await page.waitForURL(`${base}/account`)
    match(await page.locator('#user').innerText(), /alice/)
    const me = await context.request.get(`${base}/api/me`)
    equal(me.status(), 200, '/api/me with a session')
    match((await me.json()).sub, /alice/)

    await page.getByRole('link', { name: 'Home' }).click()
    await page.waitForURL(`${base}/`)
    await page.getByText('Signed in').waitFor()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.waitForURL(`${base}/account`)
    await page.locator('#user').waitFor()
    await page.goBack()
    await page.waitForURL(`${base}/`)
    await page.getByText('Signed in').waitFor()

    await page.getByRole('link', { name: 'Log out' }).click()
    await page.getByText('Signed out').waitFor()
    equal((await context.request.get(`${base}/api/me`)).status(), 401, '/api/me after the logout')
    const cookies = await context.cookies(base)
    ok(!cookies.some(({ name }) => /^__session(?:__\d+)?$/.test(name)), 'the session cookie is gone')
    equal(problems.join('\n'), '', 'exceptions in the browser')
  } finally {
    await context.close()
  }
}
