import { equal, ok } from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Browser } from '../support/app-visit.mjs'
import { secret } from './host.mjs'

/** `httpTimeout` of the application, in milliseconds. */
const httpTimeout = 8000
/** How late the response of the provider is, in milliseconds: within `httpTimeout`, and long after the connection ended. */
const LATE = 1500
/** Ends a test that hangs, in milliseconds: 20 times what a call may take. */
const HANG_GUARD = 20 * (2 * httpTimeout + 2000)

async function until(isReady, what) {
  const end = performance.now() + HANG_GUARD
  while (!isReady()) {
    if (performance.now() > end) throw new Error(`did not happen: ${what}`)
    await delay(5)
  }
}

/** Sends a request, and resets the connection as soon as `isReady` returns true. Nothing of the response is read. */
async function hangUp(browser, path, isReady) {
  const { hostname, host, port } = new URL(browser.base)
  const cookie = await browser.cookieHeader(path)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nCookie: ${cookie}\r\n\r\n`)
  if (isReady) {
    await until(isReady, `the provider receives the request of ${path.split('?', 1)[0]}`)
    socket.resetAndDestroy()
  }
  return socket
}

/** Starts a login, and returns the path of its callback. */
async function startLogin({ base, provider }, user) {
  const browser = new Browser(base)
  const { location } = await browser.get('/auth/login')
  const { location: callback } = await provider.login(location, { user })
  const { pathname, search } = new URL(callback)
  return { browser, callback: pathname + search }
}

async function logIn(context, user) {
  const { browser, callback } = await startLogin(context, user)
  const { status } = await browser.get(callback)
  ok(status >= 300 && status < 400, `the callback of ${user} responds with ${status}`)
  await expectSession(browser, user)
  return browser
}

async function expectSession(browser, user) {
  const { sub } = JSON.parse((await browser.get('/whoami')).text)
  equal(sub, user === null ? null : `dev|${user}`, `session of ${user}`)
}

const received =
  ({ provider }, endpoint) =>
  () =>
    provider.count(endpoint) > 0

/** A client hangs up during the first request to an endpoint, then the next user logs in. */
const during = (endpoint, toVisit) => ({
  title: endpoint,
  async run(context) {
    const { provider } = context
    const { browser, path } = await toVisit(context)
    provider.clearRequests()
    provider.faults.set(endpoint, { kind: 'delay', ms: LATE, commit: true }, { times: 1 })
    await hangUp(browser, path, received(context, endpoint))
    await logIn(context, 'bob')
  },
})

const callbackOf = async (context) => {
  const { browser, callback } = await startLogin(context, 'alice')
  return { browser, path: callback }
}

const isRefresh = ({ body }) => body['grant_type'] === 'refresh_token'

/** How often the provider has seen the refresh token that it saw most often. */
function mostSeen(provider) {
  const counts = new Map()
  for (const { body } of provider.requests('token').filter((request) => isRefresh(request)))
    counts.set(body['refresh_token'], (counts.get(body['refresh_token']) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

/** Logs alice in with an access token that expires at once. */
async function withExpiredToken(context) {
  const { provider } = context
  const remove = provider.rewrite('token', (json) => ({ ...json, expires_in: 1 }))
  const browser = await logIn(context, 'alice')
  // On a busy machine the token has expired by now, and this refreshes it.
  const { expiresAt } = JSON.parse((await browser.get('/token')).text)
  remove()
  await until(() => Date.now() >= 1000 * expiresAt, 'the token expires')
  provider.clearRequests()
  return browser
}

/** Calls until there is a token, or none can be had any more. */
async function untilFinal(browser) {
  const end = performance.now() + HANG_GUARD
  while (performance.now() < end) {
    const { code = null } = JSON.parse((await browser.get('/token')).text)
    if ([null, 'MISSING_REFRESH_TOKEN'].includes(code)) return
  }
  throw new Error('refreshing fails for ever')
}

/**
 * A client hangs up while its access token is refreshed, then the same user calls again with the same cookie, and the next
 * one logs in.
 */
const refresh = (title, { fault, isReady = () => true, stays = false }) => ({
  title,
  async run(context) {
    const { isKept, provider } = context
    const browser = await withExpiredToken(context)
    if (fault) provider.faults.set('token', fault, { times: 1, when: isRefresh })
    const refreshes = () => provider.requests('token').filter(isRefresh)
    const hasRefreshed = () => refreshes().some(isReady)
    const socket = await hangUp(browser, '/token', stays ? undefined : hasRefreshed)
    await until(hasRefreshed, 'the provider receives the refresh')
    const { status, text } = await browser.get('/token')
    const { code = null } = JSON.parse(text)
    await expectSession(browser, 'alice')
    // An outage does not last: after the deadline a call redeems, or gets the final error of the provider.
    await untilFinal(browser)
    socket.destroy()
    const times = mostSeen(provider)
    await logIn(context, 'bob')
    if (isKept) equal(code, null, `the code of the next call, with status ${status}`)
    else ok([null, 'FAILED_TO_REFRESH_TOKEN', 'MISSING_REFRESH_TOKEN'].includes(code), `the code is ${code}`)
    ok(times >= 1 && times <= (isKept ? 1 : 2), `the provider has seen one refresh token ${times} times`)
  },
})

/** Each in a process of its own, whose caches are empty. */
export const hangUpCases = [
  during('discovery', ({ base }) => ({ browser: new Browser(base), path: '/auth/login' })),
  during('token', callbackOf),
  during('jwks', callbackOf),
  during('userinfo', async (context) => ({ browser: await logIn(context, 'alice'), path: '/user-info' })),
  during('revocation', async (context) => ({ browser: await logIn(context, 'alice'), path: '/auth/logout' })),
  {
    title: 'a logout that does not wait for a slow revocation',
    async run(context) {
      const { provider } = context
      const browser = await logIn(context, 'alice')
      provider.faults.set('revocation', { kind: 'delay', ms: LATE, commit: true }, { times: 1 })
      equal((await browser.get('/auth/logout')).status, 302)
      await expectSession(browser, null)
      await logIn(context, 'bob')
    },
  },
  refresh('refresh, before the provider processes it', { fault: { kind: 'delay', ms: LATE } }),
  refresh('refresh, before the response', { fault: { kind: 'delay', ms: LATE, commit: true } }),
  refresh('refresh, after the response', { isReady: ({ status }) => status !== undefined }),
  refresh('refresh, whose response is never read', { stays: true }),
]

/**
 * Runs a case in a new process, with a provider of its own: faults and counts are of one provider.
 *
 * @param {import('./host.mjs').Host} host
 * @param {{ isKept?: boolean, env?: Record<string, string> }} variant of the runtime; `isKept`: whether the work of a request
 *   continues after its client has hung up
 */
export async function hangUpOnce(host, { run }, { isKept = true, env = {} } = {}) {
  const { startDevProvider } = await import('../../packages/dev-provider/dist/index.js')
  const provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  const toEnv = (base) => {
    provider.registerApp(base)
    const own = { APP_BASE_URL: base, CONTRACT_HTTP_TIMEOUT: String(httpTimeout), IDP_SECRET: secret }
    return { ...provider.env, ...env, ...own }
  }
  try {
    await host.serve('contract', toEnv, (base) => run({ base, isKept, provider }))
  } finally {
    await provider.stop()
  }
}
