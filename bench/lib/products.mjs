// The products in the configuration that their own documentation recommends, each with a login from start to session.
import { Auth, customFetch, skipCSRFCheck } from '@auth/core'
import { Auth0Client } from '@auth0/nextjs-auth0/server'
import { betterAuth } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins'
import { NextRequest } from 'next/server.js'
import * as openid from 'openid-client'
import { current } from './builds.mjs'
import { Cookies } from './cookies.mjs'
import { open, redirectWith, seal } from './floor.mjs'
import { client, issuer, origin, scope, secret, settings } from './settings.mjs'

const withCookie = (cookie, init = {}) => ({
  ...init,
  headers: { ...init.headers, ...(cookie ? { cookie } : {}) },
})
export const request = (path, cookie, init) => new Request(origin + path, withCookie(cookie, init))
export const nextRequest = (path, cookie, init) => new NextRequest(origin + path, withCookie(cookie, init))

function getLocation(response) {
  const location = response.headers.get('location')
  if (!location) throw new Error(`bench: ${response.status} without a redirect`)
  return location
}

/** Logs in by a handler that redirects to the provider at once, and returns the cookies of the session. */
const loginBy = (handle, make, paths) => async (provider) => {
  const cookies = new Cookies()
  const begun = cookies.take(await handle(make(paths.login)))
  const query = provider.authorize(getLocation(begun))
  const done = cookies.take(await handle(make(`${paths.callback}?${query}`, String(cookies))))
  getLocation(done)
  return cookies
}

const paths = { login: '/auth/login', callback: '/auth/callback' }

export function createWebClient({ Web } = current, options) {
  const idp = new Web({ ...settings, ...options })
  return { idp, login: loginBy((each) => idp.middleware(each), request, paths) }
}

export function createNextClient({ Next } = current, options) {
  const idp = new Next({ ...settings, ...options })
  return { idp, login: loginBy((each) => idp.middleware(each), nextRequest, paths) }
}

export function createNextjsAuth0(options) {
  const auth0 = new Auth0Client({
    ...settings,
    enableTelemetry: false,
    authorizationParameters: { scope },
    ...options,
  })
  return { auth0, login: loginBy((each) => auth0.middleware(each), nextRequest, paths) }
}

const keepTokens = ({ account, token }) =>
  account
    ? {
        ...token,
        accessToken: account.access_token,
        idToken: account.id_token,
        refreshToken: account.refresh_token,
        expiresAt: account.expires_at,
      }
    : token

/** @param {boolean} [keepsTokens] whether the session contains the tokens; as it comes, it does not */
export function createAuthJs(keepsTokens = true) {
  const config = {
    basePath: '/auth',
    trustHost: true,
    secret,
    skipCSRFCheck,
    providers: [
      {
        id: 'idp',
        name: 'Provider',
        type: 'oidc',
        issuer,
        clientId: client.id,
        clientSecret: client.secret,
        client: { token_endpoint_auth_method: 'client_secret_post' },
        authorization: { params: { scope } },
        checks: ['pkce', 'state', 'nonce'],
        [customFetch]: (...parameters) => fetch(...parameters),
      },
    ],
    callbacks: keepsTokens ? { jwt: keepTokens } : {},
  }
  const handle = (each) => Auth(each, config)
  return {
    handle,
    async login(provider) {
      const cookies = new Cookies()
      const body = new URLSearchParams({ callbackUrl: origin })
      const begun = cookies.take(await handle(request('/auth/signin/idp', '', { method: 'POST', body })))
      const query = provider.authorize(getLocation(begun))
      const done = cookies.take(await handle(request(`/auth/callback/idp?${query}`, String(cookies))))
      if (getLocation(done).includes('error')) throw new Error(`bench: Auth.js: ${getLocation(done)}`)
      return cookies
    },
  }
}

const encryptedSessions = {
  session: { cookieCache: { enabled: true, strategy: 'jwe', maxAge: 7 * 86_400, refreshCache: true } },
  account: { storeStateStrategy: 'cookie', storeAccountCookie: true },
}

/** @param {boolean} [isEncrypted] whether sessions are encrypted and renewed; as it comes, they are signed for five minutes */
export function createBetterAuth(isEncrypted = true) {
  const auth = betterAuth({
    baseURL: origin,
    secret,
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    ...(isEncrypted ? encryptedSessions : {}),
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: 'idp',
            discoveryUrl: `${issuer}/.well-known/openid-configuration`,
            clientId: client.id,
            clientSecret: client.secret,
            scopes: scope.split(' '),
            pkce: true,
          },
        ],
      }),
    ],
  })
  return {
    auth,
    async login(provider) {
      const cookies = new Cookies()
      const begun = cookies.take(
        await auth.handler(
          request('/api/auth/sign-in/social', '', {
            method: 'POST',
            headers: { 'content-type': 'application/json', origin },
            body: JSON.stringify({ provider: 'idp', callbackURL: '/' }),
          }),
        ),
      )
      const { url } = await begun.json()
      const query = provider.authorize(url)
      const done = cookies.take(
        await auth.handler(request(`/api/auth/callback/idp?${query}`, String(cookies))),
      )
      if (getLocation(done).includes('error')) throw new Error(`bench: better-auth: ${getLocation(done)}`)
      return cookies
    },
  }
}

/** openid-client called directly: the protocol, with the signature of the ID token; the cookies sealed by the floor. */
export async function createOpenidClient() {
  const config = await openid.discovery(
    new URL(issuer),
    client.id,
    { client_secret: client.secret },
    openid.ClientSecretPost(client.secret),
  )
  openid.enableNonRepudiationChecks(config)
  return {
    async login(provider) {
      const verifier = openid.randomPKCECodeVerifier()
      const state = openid.randomState()
      const nonce = openid.randomNonce()
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: `${origin}/auth/callback`,
        scope,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      const cookies = new Cookies()
      const begun = cookies.take(redirectWith(url.href, 'transaction', seal({ verifier, state, nonce })))
      const query = provider.authorize(getLocation(begun))
      const callback = request(`${paths.callback}?${query}`, String(cookies))
      const found = open(callback.headers.get('cookie').slice('transaction='.length))
      const tokenSet = await openid.authorizationCodeGrant(config, new URL(callback.url), {
        pkceCodeVerifier: found.verifier,
        expectedState: found.state,
        expectedNonce: found.nonce,
      })
      const session = seal({ user: tokenSet.claims(), tokenSet })
      const done = new Cookies()
      done.take(redirectWith('/', 'session', session))
      return done
    },
  }
}
