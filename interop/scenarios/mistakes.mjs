import { equal, match, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { online } from './context.mjs'

/** Begins a login that fails, and returns the last page with the events of the application. */
async function failToLogIn(context, setup) {
  const app = await context.application({ options: online, ...setup })
  const browser = context.browser()
  const page = await browser.open(`${app.url}/auth/login?returnTo=/whoami`, context.provider.user)
  equal((await context.whoami(browser, app)).sub, null, 'nobody is signed in')
  return { app, page, events: app.reports().events }
}

/** A mistake after which the page of the application says that the login failed, and its log says why. */
const mistake = ({ needs = [], remedy, setup, title }) => ({
  title: `mistake: ${title}`,
  needs,
  async run(context) {
    const { app, events, page } = await failToLogIn(context, setup())
    equal(page.url.origin, app.url, `the login ended at ${page.url.host}${page.url.pathname}`)
    ok(page.status >= 400, `the page has status ${page.status}`)
    const failed = events.find(({ code }) => code === 'LOGIN_FAILED')
    equal(failed?.remedy, remedy, JSON.stringify(failed))
    ok(!page.text.includes(context.provider.issuer), 'the page names no address of the provider')
  },
})

const clockApart = (title, seconds) =>
  mistake({
    title: `the clock of the application is ${title}`,
    remedy: 'CLOCKS_DIFFER',
    setup: () => ({ variables: { INTEROP_CLOCK_OFFSET: String(seconds) } }),
  })

export const mistakes = [
  mistake({
    title: 'a wrong client secret',
    remedy: 'CLIENT_REFUSED',
    setup: () => ({ variables: { IDP_CLIENT_SECRET: `another-${randomUUID()}` } }),
  }),
  mistake({
    title: 'a wrong client secret, found by a pushed authorization request',
    remedy: 'CLIENT_REFUSED',
    setup: () => ({
      options: { ...online, pushedAuthorizationRequests: true },
      variables: { IDP_CLIENT_SECRET: `another-${randomUUID()}` },
    }),
  }),
  mistake({
    title: 'a scope that the provider refuses',
    remedy: 'SCOPE_REFUSED',
    setup: () => ({ options: { authorizationParameters: { scope: 'openid interop-unknown' } } }),
  }),
  {
    title:
      'mistake: a redirect URI that is not registered; the provider shows its page, the log has the address',
    async run(context) {
      const setup = { client: { apps: ['http://localhost:1'] } }
      const { app, events, page } = await failToLogIn(context, setup)
      equal(page.url.origin, new URL(context.provider.issuer).origin)
      ok(page.status >= 400, `the page has status ${page.status}`)
      const started = events.find(({ code }) => code === 'LOGIN_STARTED')
      equal(started?.redirectUri, `${app.url}/auth/callback`)
    },
  },
  {
    title: 'mistake: a redirect URI that is not registered, found by a pushed authorization request',
    async run(context) {
      const { app, events, page } = await failToLogIn(context, {
        client: { apps: ['http://localhost:1'] },
        options: { ...online, pushedAuthorizationRequests: true },
      })
      equal(page.url.origin, app.url)
      const failed = events.find(({ code }) => code === 'LOGIN_FAILED')
      match(failed?.remedy ?? '', /^(REQUEST|REDIRECT_URI)_REFUSED$/, JSON.stringify(failed))
    },
  },
  clockApart('ten minutes behind', -600),
  clockApart('ten minutes ahead', 600),
]
