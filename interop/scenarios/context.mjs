import { equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { startApiClient } from '../support/api-client.mjs'
import { startApplication } from '../support/application.mjs'
import { Browser } from '../support/browser.mjs'
import { freePort, until } from '../support/program.mjs'

/** Options without `offline_access`: the refresh token then belongs to the session at the provider. */
export const online = { authorizationParameters: { scope: 'openid profile email' } }

/**
 * Creates the environment of a scenario: a provider, a host, and applications that end with it.
 *
 * @param {{ provider: object, host: string, redisUrl: string, certificate: string }} run
 */
export function createContext({ provider, host, redisUrl, certificate }) {
  const applications = []
  const apiClients = []
  return {
    provider,
    host,

    /**
     * Registers a client at the provider and starts an application with it. `client` says how the client is registered,
     * `options` and `variables` configure the library.
     */
    async application({ client = {}, options = {}, variables = {}, processes = 1, inStore = false } = {}) {
      const ports = []
      while (ports.length < processes) ports.push(await freePort())
      const app = `http://localhost:${ports[0]}`
      const {
        apps = [app],
        method = 'client_secret_basic',
        secret = `interop-${randomUUID()}`,
        usesPublishedKeys = false,
        ...rest
      } = client
      const notice = rest.backchannelLogout ? { backchannelLogoutUrl: `${app}/auth/backchannel-logout` } : {}
      const keys = usesPublishedKeys ? { jwksUrl: `${app}/auth/jwks` } : {}
      const registered = { ...rest, ...notice, ...keys, apps, method, secret }
      const clientId = await provider.addClient(registered)
      const credentials = method.startsWith('client_secret') ? { IDP_CLIENT_SECRET: secret } : {}
      const started = await startApplication(host, {
        ...{ issuer: provider.issuer, certificate, ports },
        // Browsers share the cookies of a host between its ports.
        options: { ...options, session: { cookie: { name: `session-${ports[0]}` } } },
        client: { clientId, variables: { ...credentials, ...variables } },
        ...(inStore ? { redisUrl } : {}),
      })
      const application = { ...started, clientId }
      applications.push(application)
      return application
    },

    /** Starts a program that calls APIs, registered as `registration` says. */
    async apiClient(registration) {
      const client = await startApiClient(provider, registration)
      apiClients.push(client)
      return client
    },

    browser: () => new Browser(),

    /** Logs in, and returns what the application knows of the session; `filled` names the fields that were filled in. */
    async login(browser, { url }, query = '') {
      const page = await browser.open(`${url}/auth/login?returnTo=/whoami${query}`, provider.user)
      equal(
        page.status,
        200,
        `the login ended with ${page.status} at ${page.url.pathname}: ${plainText(page.text)}`,
      )
      ok(
        page.text.startsWith('{'),
        `the login ended at ${page.url.host}${page.url.pathname}: ${plainText(page.text)}`,
      )
      const session = JSON.parse(page.text)
      ok(session.sub, 'nobody is signed in after the login')
      return { ...session, filled: page.filled }
    },

    /** Returns the session of the browser as the application sees it. */
    whoami: async (browser, { url }) => (await browser.json(`${url}/whoami`)).body,

    output: () => applications.map((application) => application.output()).join('\n'),

    stop: () => Promise.all([...applications, ...apiClients].map((each) => each.stop())),
  }
}

/** The readable text of a page, shortened. */
export const plainText = (html) =>
  html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300)

/** A successful response of the operation at `path`. */
export async function expectSuccess(browser, { url }, path) {
  const { body, status } = await browser.json(`${url}${path}`)
  equal(status, 200, `${path} responded with ${status}: ${JSON.stringify(body).slice(0, 400)}`)
  return body
}

/** A response of the operation at `path` that is the error `code`. */
export async function expectFailure(browser, { url }, path, code) {
  const { body, status } = await browser.json(`${url}${path}`)
  equal(status, 500, `${path} responded with ${status}: ${JSON.stringify(body).slice(0, 400)}`)
  equal(body.code, code, `${path}: ${JSON.stringify(body).slice(0, 400)}`)
  return body
}

/** How often the application has sent a refresh token to the provider. */
export const countRefreshes = (app) =>
  app.reports().requests.filter(({ grant }) => grant === 'refresh_token').length

export const countLogins = (app) => app.reports().events.filter(({ code }) => code === 'LOGIN_STARTED').length

/** Waits until an access token is past its end, as the provider set it. */
export const untilExpired = ({ expiresAt }) =>
  until('the access token to expire', async () => Date.now() / 1000 > expiresAt + 1)
