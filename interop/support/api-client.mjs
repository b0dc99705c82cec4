import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as oauth from 'oauth4webapi'
import { certificateFetch } from './certificate-fetch.mjs'

/** Receives the redirects of logins, as a program on the user's machine does (RFC 8252). */
async function startReceiver() {
  const server = createServer((_request, response) => response.end('signed in')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function discover(issuer) {
  const url = new URL(issuer)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url))
}

/** Returns the headers of a GET with that token: with a new proof, if `key` is the key of the token. */
export async function createHeaders(url, token, key) {
  let headers
  await oauth.protectedResourceRequest(token, 'GET', new URL(url), undefined, undefined, {
    ...(key ? { DPoP: key } : {}),
    [oauth.allowInsecureRequests]: true,
    async [oauth.customFetch](_url, init) {
      headers = init.headers
      return new Response()
    },
  })
  return headers
}

/**
 * A program that calls APIs with access tokens: a client of its own at the provider, without the library under test.
 * `registration` says how it is registered; with `dpop` its tokens are bound to its `key`, with an `identity` to that certificate.
 */
export async function startApiClient(provider, registration = {}) {
  const receiver = await startReceiver()
  const redirectUri = `${receiver.origin}/auth/callback`
  const secret = `interop-${randomUUID()}`
  const { identity } = registration
  const method = identity ? 'tls_client_auth' : 'client_secret_basic'
  const clientId = await provider.addClient({ ...registration, apps: [receiver.origin], method, secret })
  const server = await discover(provider.issuer)
  const client = { client_id: clientId, use_mtls_endpoint_aliases: identity !== undefined }
  const authenticate = identity ? oauth.TlsClientAuth() : oauth.ClientSecretBasic(secret)
  const key = registration.dpop ? oauth.DPoP(client, await oauth.generateKeyPair('ES256')) : undefined
  const options = {
    ...(key ? { DPoP: key } : {}),
    ...(identity ? { [oauth.customFetch]: certificateFetch(identity) } : {}),
  }

  return {
    clientId,
    key,
    stop: receiver.stop,

    /** The tokens of a user who logs in. */
    async logIn(browser, scope) {
      const verifier = oauth.generateRandomCodeVerifier()
      const url = new URL(server.authorization_endpoint)
      const query = {
        ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope },
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      const page = await browser.open(url, provider.user)
      const code = oauth.validateAuthResponse(server, client, page.url, oauth.expectNoState)
      const grant = [code, redirectUri, verifier, options]
      const response = await oauth.authorizationCodeGrantRequest(server, client, authenticate, ...grant)
      return oauth.processAuthorizationCodeResponse(server, client, response)
    },

    /** The access token of the client itself. */
    async requestToken(scope) {
      const response = await oauth.clientCredentialsGrantRequest(
        ...[server, client, authenticate, { scope }, options],
      )
      return (await oauth.processClientCredentialsResponse(server, client, response)).access_token
    },
  }
}
