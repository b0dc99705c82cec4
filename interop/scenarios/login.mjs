import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { until } from '../support/program.mjs'
import { expectSuccess, online } from './context.mjs'

const algorithmScenario = (algorithm) => ({
  title: `ID tokens signed with ${algorithm}`,
  needs: [algorithm],
  async run(context) {
    const app = await context.application({
      client: { idTokenAlgorithm: algorithm },
      options: { ...online, idTokenSignedResponseAlg: algorithm },
    })
    const browser = context.browser()
    equal((await context.login(browser, app)).signature.alg, algorithm)
    await expectSuccess(browser, app, '/token?refresh=1')
    equal((await context.whoami(browser, app)).signature.alg, algorithm)
  },
})

export const login = [
  {
    title: 'silent login: login_required without a session at the provider, no page with one',
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const refused = await browser.open(`${app.url}/auth/login?prompt=none&returnTo=/whoami`)
      equal(refused.url.origin, app.url)
      const failed = app.reports().events.find(({ code }) => code === 'LOGIN_FAILED')
      equal(failed?.providerError, 'login_required')
      const { sub } = await context.login(browser, app)
      browser.forget('localhost')
      const silent = await context.login(browser, app, '&prompt=none')
      equal(silent.sub, sub)
      deepEqual(silent.filled, [])
    },
  },
  {
    title: 'step-up: a guard with acr requires the second factor',
    needs: ['acr'],
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const first = await context.login(browser, app)
      ok(!first.filled.includes('otp'), 'the login needs no second factor')
      const page = await browser.open(`${app.url}/gold`, context.provider.user)
      equal(page.status, 200)
      ok(page.filled.includes('otp'), 'the provider required the second factor')
      ok(page.text.includes('granted'))
      equal((await browser.open(`${app.url}/gold`)).url.origin, app.url, 'the next visit needs no login')
    },
  },
  {
    title: 'step-up: a guard with maxAge requires a new login',
    needs: ['max_age'],
    async run(context) {
      const app = await context.application({ options: { ...online, dpopOptions: { clockTolerance: 1 } } })
      const browser = context.browser()
      const { authTime } = await context.login(browser, app)
      await until('the login to be too old', async () => Date.now() / 1000 > authTime + 4)
      const page = await browser.open(`${app.url}/recent`, context.provider.user)
      equal(page.status, 200)
      ok(page.filled.includes('password'), 'the provider required the password')
      ok(page.text.includes('granted'))
      ok((await context.whoami(browser, app)).authTime > authTime)
    },
  },
  ...['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'].map(algorithmScenario),
  {
    title: 'the provider rotates its keys: refresh and login continue',
    needs: ['key rotation'],
    async run(context) {
      const app = await context.application({ options: online })
      const browser = context.browser()
      const { signature } = await context.login(browser, app)
      await context.provider.rotateKeys()
      await expectSuccess(browser, app, '/token?refresh=1')
      const { kid } = (await context.whoami(browser, app)).signature
      notEqual(kid, signature.kid, 'the ID token of the refresh is signed by the new key')
      equal((await context.login(context.browser(), app)).signature.kid, kid)
    },
  },
]
