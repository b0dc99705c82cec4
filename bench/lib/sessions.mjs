// One user, logged in to every product at the same stub of a provider.
import { sealData } from 'iron-session'
import { encode } from 'next-auth/jwt'
import { builds } from './builds.mjs'
import { seal } from './floor.mjs'
import {
  createAuthJs,
  createBetterAuth,
  createNextClient,
  createNextjsAuth0,
  createWebClient,
} from './products.mjs'
import { createProvider, tokens, user } from './provider.mjs'
import { secret } from './settings.mjs'

/** The session as plain data, for products that do no login of their own. */
export function referenceSession() {
  const { access_token, id_token, refresh_token, expires_in, scope } = tokens('nonce')
  const expiresAt = Math.floor(Date.now() / 1000) + expires_in
  const tokenSet = {
    accessToken: access_token,
    idToken: id_token,
    refreshToken: refresh_token,
    expiresAt,
    scope,
  }
  return {
    user,
    tokenSet: { ...tokenSet, token_type: 'Bearer' },
    internal: { sid: 'sid', createdAt: expiresAt - expires_in },
  }
}

/** The clients of one build, and the cookies of its logins. */
async function logIn(build, provider) {
  const web = createWebClient(build)
  const next = createNextClient(build)
  return {
    name: build.name,
    idp: web.idp,
    nextIdp: next.idp,
    webCookie: String(await web.login(provider)),
    nextCookie: String(await next.login(provider)),
  }
}

export async function createSessions() {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const ours = []
  for (const build of builds) ours.push(await logIn(build, provider))
  const products = {
    auth0: createNextjsAuth0(),
    authJs: createAuthJs(),
    authJsAsItComes: createAuthJs(false),
    better: createBetterAuth(),
    betterAsItComes: createBetterAuth(false),
  }
  const data = referenceSession()
  const { tokenSet, user: claims } = data
  const cookies = {
    floor: `session=${seal(data)}`,
    nextAuth: `__Secure-next-auth.session-token=${await encode({ token: { ...claims, ...tokenSet }, secret })}`,
    nextAuthAsItComes: `__Secure-next-auth.session-token=${await encode({ token: claims, secret })}`,
    iron: `iron=${await sealData(data, { password: secret })}`,
  }
  for (const [name, { login }] of Object.entries(products)) cookies[name] = String(await login(provider))
  return { provider, ours, products, cookies }
}
