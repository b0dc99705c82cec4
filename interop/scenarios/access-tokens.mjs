import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { decodeProtectedHeader } from 'jose'
import { createHeaders } from '../support/api-client.mjs'
import { online } from './context.mjs'

/** Calls a guarded handler of the application. */
async function call({ url }, path, headers, browser) {
  const init = { headers: { accept: 'application/json', ...headers } }
  const response = await (browser ? browser.request(`${url}${path}`, init) : fetch(`${url}${path}`, init))
  const body = await response.json()
  return { status: response.status, body, challenge: response.headers.get('www-authenticate') ?? '' }
}

const bearer = (token) => ({ authorization: `Bearer ${token}` })

const hasScope = ({ scope }, name) => scope.split(' ').includes(name)

async function expectAccepted(app, path, headers, browser) {
  const { body, status } = await call(app, path, headers, browser)
  equal(status, 200, `${path} responded with ${status}: ${JSON.stringify(body)}`)
  return body
}

/** A token that the handler never sees. */
async function expectRefused(app, path, headers, { browser, error = 'invalid_token', what = path } = {}) {
  const { body, challenge, status } = await call(app, path, headers, browser)
  equal(status, 401, `${what}: ${status} ${JSON.stringify(body)}`)
  ok(challenge.includes(`error="${error}"`), `${what}: ${challenge}`)
}

/** Why the application has refused the first token, in its log. */
const reasonOf = (app) => app.reports().events.find(({ code }) => code === 'REQUEST_FAILED')?.detail ?? ''

export const accessTokens = [
  {
    title: 'API: accepts the access token of a user that is for it, and none for another one',
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient()
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      const { access_token: token } = await client.logIn(browser, 'openid orders:read')
      const caller = await expectAccepted(app, '/api/orders', bearer(token))
      ok(hasScope(caller, 'orders:read'), `the scope is ${caller.scope}`)
      const { scope } = caller
      deepEqual(caller, { clientId: client.clientId, isClient: false, kind: 'token', scope, sub })
      await expectRefused(app, '/api/invoices', bearer(token))
      const { access_token: other } = await client.logIn(browser, 'openid invoices:read')
      await expectAccepted(app, '/api/invoices', bearer(other))
      await expectRefused(app, '/api/orders', bearer(other))
      const { access_token: ofNone } = await client.logIn(browser, 'openid')
      await expectRefused(app, '/api/shared', bearer(ofNone), { what: 'a token for no API' })
    },
  },
  {
    title: 'API: accepts the access token of a client that acts for itself, isClient is true',
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient({ serviceAccount: true })
      const token = await client.requestToken('orders:read')
      const caller = await expectAccepted(app, '/api/orders', bearer(token))
      equal(caller.clientId, client.clientId)
      equal(caller.isClient, true)
      ok(hasScope(caller, 'orders:read'), `the scope is ${caller.scope}`)
      await expectRefused(app, '/api/invoices', bearer(token))
    },
  },
  {
    title: 'API: refuses an ID token, although its aud contains the API',
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient()
      const { id_token: token } = await client.logIn(context.browser(), 'openid orders:read')
      await expectRefused(app, '/api/shared', bearer(token))
      match(reasonOf(app), /It is no access token|not that of an access token/)
    },
  },
  {
    title: 'API: refuses a refresh token',
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient()
      const { refresh_token: token } = await client.logIn(context.browser(), 'openid orders:read')
      ok(token, 'the client got a refresh token')
      await expectRefused(app, '/api/shared', bearer(token))
    },
  },
  {
    title: 'API: an access token without the scope of the operation gets 403, the challenge names the scope',
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient()
      const browser = context.browser()
      const { access_token: narrow } = await client.logIn(browser, 'openid orders:read')
      const { body, challenge, status } = await call(app, '/api/changes', bearer(narrow))
      equal(status, 403, JSON.stringify(body))
      match(challenge, /error="insufficient_scope"/)
      const [, scope = ''] = /scope="([^"]*)"/.exec(challenge) ?? []
      ok(hasScope({ scope }, 'orders:write'), challenge)
      const { access_token: wide } = await client.logIn(browser, scope)
      await expectAccepted(app, '/api/changes', bearer(wide))
    },
  },
  {
    title: 'API: a guard that accepts sessions, too: beside a cookie the token decides alone',
    async run(context) {
      const app = await context.application({ options: online })
      const client = await context.apiClient({ serviceAccount: true })
      const browser = context.browser()
      const { sub } = await context.login(browser, app)
      const session = await expectAccepted(app, '/api/shared', {}, browser)
      deepEqual([session.kind, session.sub], ['session', sub])
      const token = bearer(await client.requestToken('orders:read'))
      const caller = await expectAccepted(app, '/api/shared', token, browser)
      equal(caller.kind, 'token')
      notEqual(caller.sub, sub)
      const foreign = bearer(await client.requestToken('invoices:read'))
      await expectRefused(app, '/api/shared', foreign, { browser, what: 'a wrong token beside a session' })
    },
  },
  {
    title: 'API: accepts a token that is bound to a key (DPoP) with a proof, once, and not as bearer token',
    needs: ['dpop'],
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient({ dpop: true })
      const thief = await context.apiClient({ dpop: true })
      const { access_token: token } = await client.logIn(context.browser(), 'openid orders:read')
      const prove = (path) => createHeaders(`${app.url}${path}`, token, client.key)
      const proven = await prove('/api/orders')
      equal((await expectAccepted(app, '/api/orders', proven)).clientId, client.clientId)
      const refused = {
        'a proof for a second time': ['invalid_dpop_proof', proven],
        'the proof of another URL': ['invalid_dpop_proof', await prove('/api/shared')],
        'the proof of another key': [
          'invalid_dpop_proof',
          await createHeaders(`${app.url}/api/orders`, token, thief.key),
        ],
        'no proof': ['invalid_dpop_proof', { authorization: proven.authorization }],
        'a bearer token': ['invalid_token', bearer(token)],
        'a bearer token with a proof': [
          'invalid_token',
          { ...(await prove('/api/orders')), ...bearer(token) },
        ],
      }
      for (const [what, [error, headers]] of Object.entries(refused))
        await expectRefused(app, '/api/orders', headers, { error, what })
      await expectAccepted(app, '/api/orders', await prove('/api/orders'))
    },
  },
  {
    title: 'API: the provider rotates its keys, new and earlier access tokens are accepted',
    needs: ['key rotation'],
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient({ serviceAccount: true })
      const earlier = await client.requestToken('orders:read')
      await expectAccepted(app, '/api/orders', bearer(earlier))
      await context.provider.rotateKeys()
      const later = await client.requestToken('orders:read')
      notEqual(decodeProtectedHeader(later).kid, decodeProtectedHeader(earlier).kid)
      await expectAccepted(app, '/api/orders', bearer(later))
      await expectAccepted(app, '/api/orders', bearer(earlier))
    },
  },
  {
    title: 'API: introspects an opaque access token, and refuses it without introspection',
    needs: ['reference tokens'],
    async run(context) {
      const app = await context.application()
      const client = await context.apiClient({ referenceTokens: true })
      const token = await client.requestToken('orders:read')
      await expectRefused(app, '/api/orders', bearer(token))
      equal((await expectAccepted(app, '/api/opaque', bearer(token))).clientId, client.clientId)
      const foreign = await client.requestToken('invoices:read')
      await expectRefused(app, '/api/opaque', bearer(foreign), { what: 'a token for another API' })
      const { id_token: idToken, refresh_token: refreshToken } = await client.logIn(
        context.browser(),
        'openid orders:read',
      )
      await expectRefused(app, '/api/opaque', bearer(refreshToken), { what: 'a refresh token' })
      await expectRefused(app, '/api/opaque', bearer(`${idToken}.`), { what: 'an ID token with another dot' })
      await expectRefused(app, '/api/opaque', bearer('unknown'), { what: 'an unknown token' })
    },
  },
]
