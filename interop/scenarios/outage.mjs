import { equal, notEqual } from 'node:assert/strict'
import { expectFailure, expectSuccess, online } from './context.mjs'

export const outage = [
  {
    title: 'the provider is stopped and started again: no session is lost, refresh and login continue',
    async run(context) {
      const { provider } = context
      // The first responses of a server that has just started take longer than the default allows.
      const options = { ...online, httpTimeout: 30_000 }
      const app = await context.application({ options })
      const stored = await context.application({ options, inStore: true })
      const [browser, other] = [context.browser(), context.browser()]
      const { sub } = await context.login(browser, app)
      await context.login(other, stored)
      const first = await expectSuccess(browser, app, '/token')
      await provider.pause()
      try {
        for (const [user, application] of [
          [browser, app],
          [other, stored],
        ]) {
          const { error } = await expectFailure(
            user,
            application,
            '/token?refresh=1',
            'FAILED_TO_REFRESH_TOKEN',
          )
          notEqual(error, 'invalid_grant')
          await expectSuccess(user, application, '/token')
          equal((await context.whoami(user, application)).sub, sub)
        }
      } finally {
        await provider.start()
      }
      const second = await expectSuccess(browser, app, '/token?refresh=1')
      notEqual(second.token, first.token)
      await expectSuccess(other, stored, '/token?refresh=1')
      equal((await context.login(context.browser(), app)).sub, sub)
    },
  },
]
