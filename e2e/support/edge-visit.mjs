import { equal, match, notEqual, ok } from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { Browser } from './app-visit.mjs'

const TRIES = 60

async function tokenFrom(browser, path) {
  const response = await browser.get(path)
  equal(response.status, 200, `${path}: ${response.text.slice(0, 300)}`)
  return { token: JSON.parse(response.text).token, cookies: response.cookies }
}

const isSession = (line) => /^__session=[^;]/.test(line)

/**
 * The session of one user, refreshed by the middleware on the edge runtime and by the server in turn: each finds the refresh
 * token of the other. Then requests in which the middleware rolls the session that the server refreshes: the newer refresh
 * token is the one that the browser keeps, or the next refresh would fail.
 *
 * @param {() => string} output what the server has printed
 */
export async function expectTwoRealms(base, provider, output) {
  const browser = new Browser(base)
  const begin = await browser.get('/auth/login')
  const { location } = await provider.login(begin.location, { user: 'alice' })
  const { pathname, search } = new URL(location)
  equal((await browser.get(pathname + search)).status, 302, 'callback')

  let last
  for (const path of ['/api/token', '/auth/access-token', '/api/token', '/auth/access-token']) {
    const { token } = await tokenFrom(browser, path)
    notEqual(token, last, `${path} refreshes`)
    last = token
  }
  match(output(), /NOTICE: .*edge runtime/, 'the notice')

  let met = 0
  for (let tries = 0; met < 2; tries += 1) {
    ok(tries < TRIES, 'a roll by the middleware meets a refresh by the server')
    const { cookies, token } = await tokenFrom(browser, '/api/token')
    notEqual(token, last, 'the server refreshes')
    last = token
    if (cookies.filter(isSession).length > 1) met += 1
    await pause(250)
  }
  await tokenFrom(browser, '/auth/access-token')
}
