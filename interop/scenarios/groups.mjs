import { equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { expectSuccess, online } from './context.mjs'

const groups = (count) => Array.from({ length: count }, () => randomUUID())

/** Bytes of all cookies of one client with the default options; nginx accepts 8190 without a setting. */
const LIMIT = 7900

const noticesOf = (app) =>
  app.reports().events.flatMap(({ code, message }) => (code === 'NOTICE' ? message : []))

/** Refreshes the tokens, whose ID token then has so many groups, and checks the size of the cookies. */
async function refreshWith(context, browser, app, count) {
  await context.provider.setGroups(app.clientId, groups(count))
  await expectSuccess(browser, app, '/token?refresh=1')
  const { length } = browser.cookieHeader(app.url)
  ok(length <= LIMIT, `the cookies take ${length} bytes`)
  return context.whoami(browser, app)
}

export const manyGroups = [
  {
    title: '200 groups, refresh, logout: sessions in cookies stay within the limits of proxies',
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      equal((await refreshWith(context, browser, app, 20)).groups, 20)
      for (const _again of [1, 2]) {
        const session = await refreshWith(context, browser, app, 200)
        equal(session.sub, sub)
        equal(session.groups, 20, 'the earlier ID token and its claims stay')
      }
      const { events } = app.reports()
      ok(
        events.some(({ code, level }) => code === 'SESSION_AT_LIMIT' && level === 'warn'),
        'the log says what was left out',
      )
      await browser.open(`${app.url}/auth/logout`)
      equal((await context.whoami(browser, app)).sub, null)
    },
  },
  {
    title: '200 groups, refresh, logout: the provider accepts the earlier ID token as a hint',
    needs: ['earlier ID tokens'],
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      await context.login(browser, app)
      equal((await refreshWith(context, browser, app, 20)).groups, 20)
      equal((await refreshWith(context, browser, app, 200)).groups, 20)
      const page = await browser.open(`${app.url}/auth/logout`)
      equal(page.url.origin, app.url, `the logout ended at ${page.url.host}${page.url.pathname}`)
    },
  },
  {
    title:
      '200 groups, refresh, logout: a session in a store has all groups; the long address of its logout is reported',
    async run(context) {
      const app = await context.application({ options: online, inStore: true })
      const browser = context.browser()
      await context.login(browser, app)
      equal((await refreshWith(context, browser, app, 200)).groups, 200)
      // The provider may reject the address; the session of the application ends in any case.
      await browser.open(`${app.url}/auth/logout`)
      equal((await context.whoami(browser, app)).sub, null)
      ok(
        noticesOf(app).some((message) => message.includes('includeIdTokenHintInOIDCLogoutUrl')),
        'the log names the option',
      )
      const options = { ...online, includeIdTokenHintInOIDCLogoutUrl: false }
      const short = await context.application({ options, inStore: true })
      await context.login(browser, short)
      equal((await refreshWith(context, browser, short, 200)).groups, 200)
      const response = await browser.request(`${short.url}/auth/logout`)
      ok((response.headers.get('location') ?? '').length < 1000, 'the address has no ID token')
      equal(noticesOf(short).length, 0)
    },
  },
]
