import { deepEqual, equal, ok } from 'node:assert/strict'
import { accessibilityProblems } from '../../support/accessibility.ts'
import { findTokens, readPage, Traffic } from './token-search.mjs'

const MIB = 1_048_576

/** Remembers the tokens that a provider issues, until `end` is called. */
function rememberTokens(provider) {
  const kinds = { access_token: new Set(), refresh_token: new Set(), id_token: new Set() }
  const end = provider.rewrite('token', (json) => {
    for (const [kind, tokens] of Object.entries(kinds)) if (json[kind]) tokens.add(json[kind])
  })
  return { kinds, end, all: () => Object.values(kinds).flatMap((tokens) => [...tokens]) }
}

async function logIn(page, base) {
  await page.getByRole('link', { name: 'Log in' }).click()
  await page.getByRole('button', { name: /alice/i }).click()
  await page.waitForURL(`${base}/`)
  await page.getByText('Signed in as').waitFor()
}

const row = (page, id) => page.getByRole('row', { name: id })

async function order(page, item) {
  await page.getByLabel('Item').fill(item)
  await page.getByRole('button', { name: 'Order' }).click()
}

/** Returns the number of the latest event that the page shows. */
async function readTick(page) {
  const text = await page.getByText(/^Connected, event \d+$/).innerText()
  return Number(/\d+/.exec(text)?.[0])
}

/** Waits until the page shows a later event than now. */
async function untilNextTick(page) {
  const tick = await readTick(page)
  await page.getByText(`Connected, event ${tick + 1}`, { exact: true }).waitFor()
}

/** Uploads a file of that many bytes, as fast as 4 MiB in a second, and returns the steps of progress that the page has shown. */
async function upload(page, id, bytes) {
  const session = await page.context().newCDPSession(page)
  const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 4 * MIB }
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', limits)
  const seen = await page.evaluateHandle(() => {
    const values = []
    const note = () => values.push(...Array.from(document.querySelectorAll('progress'), ({ value }) => value))
    const options = { subtree: true, childList: true, attributes: true }
    new MutationObserver(note).observe(document.body, options)
    return values
  })
  const file = {
    name: 'receipt.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.alloc(bytes, 'tea'),
  }
  await page.getByLabel(`Receipt of ${id}`).setInputFiles(file)
  await row(page, id).getByText(`${bytes} bytes`).waitFor()
  await session.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput: -1 })
  await session.detach()
  return seen.jsonValue()
}

/** Runs `read` while known texts are in the storage of a page, in its state, and in a closure. */
async function withProbes(page, read) {
  await page.evaluate(() => {
    localStorage.setItem('probe', 'probe-in-storage')
    sessionStorage.setItem('probe', 'probe-in-session-storage')
    window.probe = { deep: [new Map([['key', 'probe-in-window']])] }
    const hidden = ['probe-in', 'closure'].join('-')
    addEventListener('probe', () => hidden)
  })
  const texts = await read()
  await page.evaluate(() => {
    localStorage.clear()
    sessionStorage.clear()
    delete window.probe
  })
  return texts
}

/** The texts that the search must find, with the beginnings of their places: otherwise it would find no tokens either. */
const known = {
  'Teapot, cast iron': ['body /api/orders', 'page', 'heap'],
  'location: /api/orders/O-3': ['headers /api/orders'],
  '{"item":"Sugar bowl"}': ['request /api/orders'],
  ' tick 2': ['event /'],
  createRoot: ['body /'],
  'probe-in-storage': ['page'],
  'probe-in-session-storage': ['page'],
  'probe-in-window': ['page', 'heap'],
  'probe-in-closure': ['heap'],
}

function expectKnown(texts) {
  for (const [text, expected] of Object.entries(known)) {
    const found = findTokens(texts, [text])
    for (const place of expected)
      ok(
        found.some((one) => one.startsWith(place)),
        `${text} is in ${place}, not only in ${found.join(', ')}`,
      )
  }
}

const expectNoTokens = (texts, tokens) => deepEqual(findTokens(texts, tokens), [], 'places with a token')

const expectAccessible = async (page) => deepEqual(await accessibilityProblems(page), [])

/** Uses the application as one user, who sees what the API knows, while the browser gets no token. */
export async function visitSpa(browser, base, provider) {
  const context = await browser.newContext()
  const traffic = new Traffic(context)
  const tokens = rememberTokens(provider)
  const problems = []
  context.on('weberror', (event) => problems.push(String(event.error())))
  try {
    const page = await context.newPage()
    await page.goto(base)
    await page.getByText('Signed out').waitFor()
    await expectAccessible(page)
    await logIn(page, base)
    await row(page, 'O-2').waitFor()
    await order(page, 'Sugar bowl')
    await row(page, 'O-3').getByText('Sugar bowl').waitFor()
    await untilNextTick(page)
    await expectAccessible(page)
    const steps = await upload(page, 'O-3', 6 * MIB)
    ok(
      steps.some((step) => step > 0 && step < 1),
      `progress: ${steps}`,
    )
    equal((await context.request.get(`${base}/auth/access-token`)).status(), 404)
    const readAll = async () => [...(await traffic.read()), ...(await readPage(page))]
    const texts = await withProbes(page, readAll)
    expectKnown(texts)
    expectNoTokens(texts, tokens.all())
    for (const { httpOnly, name } of await context.cookies()) ok(httpOnly, `scripts cannot read ${name}`)

    // The session ends in another tab, which tells this one.
    const other = await context.newPage()
    await other.goto(base)
    await other.getByRole('link', { name: 'Log out' }).click()
    await other.getByText('Signed out').waitFor()
    await page.getByText('Signed out').waitFor()
    await other.close()

    await logIn(page, base)
    await row(page, 'O-3')
      .getByText(`${6 * MIB} bytes`)
      .waitFor()
    await untilNextTick(page)
    // The session has gone, and nobody tells: the next request finds out.
    await context.clearCookies()
    await order(page, 'Honey')
    await page.getByText('Signed out').waitFor()
    for (const [kind, { size }] of Object.entries(tokens.kinds)) ok(size >= 2, `${kind} of two logins`)
    expectNoTokens(await readAll(), tokens.all())
    equal(problems.join('\n'), '', 'exceptions in the browser')
  } finally {
    tokens.end()
    await context.close()
  }
}
