// Tests of server functions in the production build of SolidStart: actions that update the session, with and without JavaScript.
import { equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { generateCookieHeader } from 'idp-client/testing'

const secret = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'
/** Twenty times what the server needs to start. */
const HANG_GUARD = { timeout: 60_000 }
let base

const toCookies = (response) =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')

/** Calls the action with a signed-in user. */
async function mutate(fields, headers) {
  const cookie = await generateCookieHeader({ user: { sub: 'carol' } }, { secret })
  const page = await fetch(`${base}/forms/value`, { headers: { cookie } })
  const html = await page.text()
  match(html, /value=undefined/)
  const [, path] = /action="([^"]+)"/.exec(html)
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  const action = new URL(path.replaceAll('&amp;', '&'), base)
  return fetch(action, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { cookie, referer: `${base}/forms/value`, ...headers(action) },
  })
}

async function readValue(response) {
  const page = await fetch(`${base}/forms/value`, { headers: { cookie: toCookies(response) } })
  return /value=\w+/.exec(await page.text())[0]
}

/** How a browser with JavaScript calls a server function: with the results of queries in the same response. */
const singleFlight = (action) => ({
  'x-server-id': action.searchParams.get('id'),
  'x-server-instance': 'server-fn:0',
  'x-single-flight': 'true',
})

/**
 * Defines the tests.
 *
 * @param {string[]} start arguments of Node.js that start the server
 */
export function testServerFunctions(start) {
  let server

  before(async () => {
    server = spawn(process.execPath, start, {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
      env: {
        ...process.env,
        // Set by the test runner: srvx then prints no address.
        TEST: undefined,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: '0',
        IDP_DOMAIN: 'idp.example',
        IDP_CLIENT_ID: 'app',
        IDP_CLIENT_SECRET: 'client-secret',
        IDP_SECRET: secret,
        APP_BASE_URL: 'http://localhost',
      },
    })
    let output = ''
    for await (const chunk of server.stdout) {
      output += chunk
      base = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      if (base) return
    }
    throw new Error(`The server did not start: ${output}`)
  }, HANG_GUARD)

  after(async () => {
    process.kill(-server.pid, 'SIGKILL')
    await once(server, 'exit')
  })

  describe('an action that updates the session', () => {
    const calls = { 'without JavaScript': () => ({}), 'as a single-flight mutation': singleFlight }
    const endings = { returns: {}, 'throws a redirect': { redirect: '1' } }
    for (const [way, headers] of Object.entries(calls))
      for (const [ending, fields] of Object.entries(endings))
        test(`keeps the cookie if it ${ending}, ${way}`, async () => {
          const response = await mutate({ value: 'new', ...fields }, headers)
          match(response.headers.get('cache-control'), /no-store/)
          equal(await readValue(response), 'value=new')
          equal(response.headers.getSetCookie().filter((line) => line.startsWith('__session=')).length, 1)
        })

    test('shows its value in the same response, as a single-flight mutation', async () => {
      const response = await mutate({ value: 'new', redirect: '1' }, singleFlight)
      equal(response.headers.get('x-single-flight'), 'true')
      match(await response.text(), /value=new/)
    })
  })
}
