import { deepEqual, equal, ok } from 'node:assert/strict'
import { expectSuccess, online } from './context.mjs'

export const grants = [
  {
    title: 'token exchange: the access token of the session for one of another audience',
    needs: ['token exchange'],
    async run(context) {
      const app = await context.application({ client: { exchange: true }, options: online })
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      const { audience } = context.provider
      const result = await expectSuccess(browser, app, `/exchange?audience=${audience}&scope=openid`)
      equal(result.sub, sub)
      ok(result.isNew, 'the provider issued another token')
      deepEqual(result.audiences, [audience])
    },
  },
  {
    title: 'CIBA: the user approves on another device',
    needs: ['ciba'],
    async run(context) {
      const app = await context.application({ client: { ciba: true }, options: online })
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      const approval = await expectSuccess(browser, app, `/approve?user=${context.provider.user.username}`)
      equal(approval.sub, sub)
    },
  },
  {
    title: 'roles are in the access token only; a mapper or a hook adds them to the session',
    needs: ['roles'],
    async run(context) {
      const setups = {
        neither: {},
        mapper: { client: { rolesInIdToken: true } },
        hook: { variables: { INTEROP_ROLES: '1' } },
      }
      const browser = context.browser()
      for (const [name, setup] of Object.entries(setups)) {
        const app = await context.application({ ...setup, options: online })
        const { roles } = await context.login(browser, app)
        equal(roles?.includes('auditor') ?? false, name !== 'neither', name)
      }
    },
  },
]
