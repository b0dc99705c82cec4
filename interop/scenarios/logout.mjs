import { equal, ok } from 'node:assert/strict'
import { until } from '../support/program.mjs'
import { expectFailure, expectSuccess, online } from './context.mjs'

const notified = { client: { backchannelLogout: true }, options: online, inStore: true }

const untilSignedOut = (context, browser, app) =>
  until('the session to end', async () => (await context.whoami(browser, app)).sub === null, 30)

function expectNotification(app) {
  const { events } = app.reports()
  ok(
    events.some(({ code }) => code === 'BACKCHANNEL_LOGOUT'),
    'the application was notified',
  )
}

export const logout = [
  {
    title: 'RP-initiated logout ends both sessions and returns to the application',
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      await context.login(browser, app)
      const page = await browser.open(`${app.url}/auth/logout`)
      equal(page.url.origin, app.url, `the logout ended at ${page.url.host}${page.url.pathname}`)
      equal((await context.whoami(browser, app)).sub, null)
      const again = await context.login(browser, app)
      ok(again.filled.includes('password'), 'the provider asks for the password again')
    },
  },
  {
    title: 'back-channel logout: a logout in another application ends the session here',
    needs: ['back-channel logout'],
    async run(context) {
      const [app, other] = await Promise.all([
        context.application(notified),
        context.application({ options: online }),
      ])
      const [browser, bystander] = [context.browser(), context.browser()]
      await context.login(browser, app)
      await context.login(browser, other)
      const { sub } = await context.login(bystander, app)
      await browser.open(`${other.url}/auth/logout`)
      await untilSignedOut(context, browser, app)
      expectNotification(app)
      equal((await context.whoami(bystander, app)).sub, sub, 'another session of the same user lives on')
    },
  },
  {
    title: 'an administrator ends the session: back-channel logout, sessions in a store',
    needs: ['administration of sessions'],
    async run(context) {
      const app = await context.application(notified)
      const browser = context.browser()
      const { sid } = await context.login(browser, app)
      await context.provider.endSession(sid)
      await untilSignedOut(context, browser, app)
      expectNotification(app)
    },
  },
  {
    title: 'an administrator ends the session: the next refresh fails, sessions in cookies',
    needs: ['administration of sessions'],
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const { sid, sub } = await context.login(browser, app)
      await context.provider.endSession(sid)
      const { error } = await expectFailure(browser, app, '/token?refresh=1', 'FAILED_TO_REFRESH_TOKEN')
      equal(error, 'invalid_grant')
      await expectSuccess(browser, app, '/token')
      equal((await context.whoami(browser, app)).sub, sub, 'the session stays until its own limits')
      const again = await context.login(browser, app)
      ok(again.filled.includes('password'), 'the provider asks for the password again')
      await expectSuccess(browser, app, '/token?refresh=1')
    },
  },
  {
    title: 'an administrator ends an offline session: the next refresh fails',
    needs: ['administration of sessions'],
    async run(context) {
      const app = await context.application()
      const browser = context.browser()
      const { sid } = await context.login(browser, app)
      await context.provider.endSession(sid, { isOffline: true })
      const { error } = await expectFailure(browser, app, '/token?refresh=1', 'FAILED_TO_REFRESH_TOKEN')
      equal(error, 'invalid_grant')
    },
  },
  {
    title: 'an administrator signs the user out: an offline session ends at the next refresh',
    needs: ['administration of sessions'],
    async run(context) {
      const app = await context.application()
      const browser = context.browser()
      await context.login(browser, app)
      await expectSuccess(browser, app, '/token?refresh=1')
      // Tokens of the same second are not older than the sign-out.
      await new Promise((resolve) => setTimeout(resolve, 1100))
      await context.provider.signOutUser()
      const { error } = await expectFailure(browser, app, '/token?refresh=1', 'FAILED_TO_REFRESH_TOKEN')
      equal(error, 'invalid_grant')
    },
  },
]
