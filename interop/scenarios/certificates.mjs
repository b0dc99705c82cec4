import { equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { certificateFetch } from '../support/certificate-fetch.mjs'
import { assertionKey } from '../support/credentials.mjs'
import { expectSuccess } from './context.mjs'

const variablesOf = ({ certificate, key }) => ({
  INTEROP_CLIENT_CERTIFICATE: certificate,
  INTEROP_CLIENT_KEY: key,
})

/** A client that authenticates by the certificate that its registration names, and presents that of `shown`. */
const certified = (identity, shown = identity) => ({
  client: { method: 'tls_client_auth', subject: identity.subject, certificateBound: true },
  options: { clientCertificate: true, certificateBoundAccessTokens: true },
  variables: variablesOf(shown),
})

/** Logs in, refreshes and revokes, and reads UserInfo with a bound token. */
async function expectBoundTokens(context, setup) {
  const app = await context.application(setup)
  const browser = context.browser()
  const { sub } = await context.login(browser, app)
  for (const path of ['/token', '/token?refresh=1']) {
    const token = await expectSuccess(browser, app, path)
    equal(token.bound, true, 'the access token names the certificate')
  }
  equal((await expectSuccess(browser, app, '/userinfo')).sub, sub)
  await expectSuccess(browser, app, '/revoke')
  return app.reports().requests
}

const needs = ['client certificates']

export const certificates = [
  {
    title: 'client certificate (X.509) over TLS: login, refresh, UserInfo and revocation with bound tokens',
    needs,
    async run(context) {
      const requests = await expectBoundTokens(context, certified(await context.provider.issueCertificate()))
      for (const { method, path } of requests) equal(method, '', `no secret and no assertion at ${path}`)
    },
  },
  {
    title: 'private_key_jwt, and tokens that are bound to a certificate',
    needs,
    async run(context) {
      const { privatePem, publicJwk } = assertionKey('EC')
      await expectBoundTokens(context, {
        client: {
          ...{ method: 'private_key_jwt', algorithm: 'ES256', certificateBound: true },
          jwks: { keys: [{ ...publicJwk, use: 'sig', alg: 'ES256', kid: 'assertions' }] },
        },
        options: { certificateBoundAccessTokens: true, clientAssertionSigningKeyId: 'assertions' },
        variables: {
          ...variablesOf(await context.provider.issueCertificate()),
          IDP_CLIENT_ASSERTION_SIGNING_KEY: privatePem,
        },
      })
    },
  },
  {
    title: 'client certificate, pushed and signed authorization requests together',
    needs: [...needs, 'signed requests'],
    async run(context) {
      const { privatePem, publicJwk } = assertionKey('EC')
      const { client, options, variables } = certified(await context.provider.issueCertificate())
      const requests = await expectBoundTokens(context, {
        client: {
          ...{ ...client, par: true, requestAlgorithm: 'ES256' },
          jwks: { keys: [{ ...publicJwk, use: 'sig', alg: 'ES256', kid: 'requests' }] },
        },
        options: {
          ...{ ...options, pushedAuthorizationRequests: true },
          requestObject: { key: privatePem, keyId: 'requests' },
        },
        variables,
      })
      ok(requests.some(({ isSigned, path }) => isSigned && /\/par(?:\/request)?$/.test(path)))
    },
  },
  {
    title: 'client certificate: that of another client is refused',
    needs,
    async run(context) {
      const { provider } = context
      const setup = certified(await provider.issueCertificate(), await provider.issueCertificate())
      const app = await context.application(setup)
      const browser = context.browser()
      const page = await browser.open(`${app.url}/auth/login?returnTo=/whoami`, provider.user)
      equal(page.status, 502)
      equal((await context.whoami(browser, app)).sub, null)
      const { remedy } = app.reports().events.find(({ code }) => code === 'PROVIDER_FAILURE') ?? {}
      equal(remedy, 'CLIENT_CERTIFICATE_REFUSED')
    },
  },
  {
    title: 'a token that is bound to a certificate is refused without it, by the provider and by an API',
    needs,
    async run(context) {
      const { provider } = context
      const identity = await provider.issueCertificate()
      const other = await provider.issueCertificate()
      const app = await context.application()
      const registration = { identity, subject: identity.subject, certificateBound: true }
      const client = await context.apiClient(registration)
      const { access_token: token } = await client.logIn(context.browser(), 'openid orders:read')
      const authorization = `Bearer ${token}`

      const { userinfo_endpoint: userinfo } = await (
        await fetch(`${provider.issuer}/.well-known/openid-configuration`)
      ).json()
      const senders = { with: certificateFetch(identity), without: fetch, other: certificateFetch(other) }
      for (const [name, send] of Object.entries(senders)) {
        const { status } = await send(userinfo, { headers: { authorization } })
        equal(status, name === 'with' ? 200 : 401, `UserInfo, certificate: ${name}`)
      }

      const headerOf = ({ certificate }) => ({
        'x-client-cert': encodeURIComponent(readFileSync(certificate, 'utf8')),
      })
      const callers = { with: headerOf(identity), without: {}, other: headerOf(other) }
      for (const [name, header] of Object.entries(callers)) {
        const response = await fetch(`${app.url}/api/orders`, { headers: { authorization, ...header } })
        equal(response.status, name === 'with' ? 200 : 401, `API, certificate: ${name}`)
      }
    },
  },
]
