import { equal, notEqual, ok } from 'node:assert/strict'
import { until } from '../support/program.mjs'
import {
  countLogins,
  countRefreshes,
  expectFailure,
  expectSuccess,
  online,
  untilExpired,
} from './context.mjs'

/** The application with a session whose access token has just expired; the next ones live for ten minutes. */
async function withExpiredToken(context, setup) {
  const app = await context.application({ ...setup, client: { accessTokenSeconds: 5 } })
  const browser = context.browser()
  const { refreshToken } = await context.login(browser, app)
  const first = await expectSuccess(browser, app, '/token')
  await context.provider.setAccessTokenSeconds(app.clientId, 600)
  await untilExpired(first)
  return { app, browser, refreshToken, before: countRefreshes(app) }
}

/** Opens all URLs at once, each in a copy of the browser. */
const parallel = (browser, urls) =>
  Promise.all(
    urls.map(async (url) => {
      const { status, text } = await browser.copy().open(url)
      equal(status, 200, `${url}: ${text.slice(0, 300)}`)
      const token = /token(?:=|":")([\w-]+)/.exec(text)?.[1]
      ok(token, `${url} shows no token`)
      return token
    }),
  )

async function expectOneRefresh({ app, before, browser, refreshToken }, urls) {
  const tokens = await parallel(browser, urls)
  equal(new Set(tokens).size, 1, 'every call got the same token')
  equal(countRefreshes(app) - before, 1, 'one refresh token was sent')
  const next = await expectSuccess(browser, app, '/token?refresh=1')
  notEqual(next.token, tokens[0], 'the rotated refresh token is good for the next refresh')
  const session = await expectSuccess(browser, app, '/whoami')
  ok(session.refreshToken && session.refreshToken !== refreshToken, 'the provider rotated the refresh token')
}

const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index))

export const refresh = [
  {
    title: 'quick start without configured scope: login and refresh',
    async run(context) {
      const app = await context.application()
      const browser = context.browser()
      await context.login(browser, app)
      await expectSuccess(browser, app, '/token?refresh=1')
    },
  },
  {
    title: 'refresh token without offline_access',
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      await context.login(browser, app)
      const first = await expectSuccess(browser, app, '/token')
      const second = await expectSuccess(browser, app, '/token?refresh=1')
      notEqual(second.token, first.token)
    },
  },
  {
    title: 'rotation: a second use of a refresh token ends the tokens of this client, not single sign-on',
    needs: ['detection of reuse'],
    async run(context) {
      const app = await context.application({ options: online, processes: 2 })
      const browser = context.browser()
      await context.login(browser, app)
      const copy = browser.copy()
      await expectSuccess(browser, app, '/token?refresh=1')
      // Another process does not know that the token was used.
      await expectFailure(copy, { url: app.urls[1] }, '/token?refresh=1', 'FAILED_TO_REFRESH_TOKEN')
      await expectFailure(browser, app, '/token?refresh=1', 'FAILED_TO_REFRESH_TOKEN')
      const again = await context.login(browser, app)
      equal(again.filled.length, 0, 'the provider asks for nothing')
      await expectSuccess(browser, app, '/token?refresh=1')
    },
  },
  {
    title: 'rotation: 50 parallel calls cause 1 refresh, sessions in cookies',
    async run(context) {
      const running = await withExpiredToken(context, { options: online })
      await expectOneRefresh(
        running,
        repeat(50, () => `${running.app.url}/token`),
      )
    },
  },
  {
    title: 'rotation: 50 parallel calls, half of them pages that cannot write, cause 1 refresh',
    async run(context) {
      const running = await withExpiredToken(context, { options: online })
      await expectOneRefresh(
        running,
        repeat(50, (index) => `${running.app.url}/${index % 2 ? 'token' : 'rendered'}`),
      )
    },
  },
  {
    title: 'rotation: 52 parallel calls in four processes on one Redis cause 1 refresh',
    async run(context) {
      const running = await withExpiredToken(context, { options: online, processes: 4, inStore: true })
      await expectOneRefresh(
        running,
        repeat(52, (index) => `${running.app.urls[index % 4]}/token`),
      )
    },
  },
  {
    title: 'a fresh login elsewhere in the same provider session keeps the session and its refresh token',
    needs: ['prompt=login'],
    async run(context) {
      const [app, other] = await Promise.all([
        context.application({ options: online }),
        context.application({ options: online }),
      ])
      const browser = context.browser()
      const first = await context.login(browser, app)
      // `auth_time` counts whole seconds.
      await until('the second of the first login to pass', async () => Date.now() / 1000 > first.authTime + 2)
      const elsewhere = await context.login(browser, other, '&prompt=login&acr_values=gold')
      equal(elsewhere.sid, first.sid, 'both are logins of one provider session')
      ok(elsewhere.filled.includes('password'), 'the user authenticated again')
      await expectSuccess(browser, app, '/token?refresh=1')
      const later = await context.whoami(browser, app)
      equal(later.sub, first.sub)
      ok(later.authTime > first.authTime, 'the refreshed ID token names the later login')
      await expectSuccess(browser, app, '/token?refresh=1')
      const before = countLogins(app)
      const page = await browser.open(`${app.url}/gold`, context.provider.user)
      equal(page.status, 200)
      equal(countLogins(app) - before, 1, 'the guard asks for a login of this session')
    },
  },
  {
    title: 'revoked refresh token: getAccessToken throws, the session stays',
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      equal((await expectSuccess(browser, app, '/revoke')).revoked, true)
      await expectFailure(browser, app, '/token?refresh=1', 'MISSING_REFRESH_TOKEN')
      equal((await context.whoami(browser, app)).sub, sub)
    },
  },
]
