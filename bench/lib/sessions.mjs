// One user, logged in to every product at the same stub of a provider.
import { sealData } from 'iron-session'
import { encode } from 'next-auth/jwt'
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

export async function createSessions() {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const web = createWebClient()
  const next = createNextClient()
  const nextjsAuth0 = createNextjsAuth0()
  const authJs = createAuthJs()
  const better = createBetterAuth()
  const data = referenceSession()
  const { user: claims, ...rest } = data
  return {
    provider,
    data,
    idp: web.idp,
    nextIdp: next.idp,
    auth0: nextjsAuth0.auth0,
    authJs: authJs.handle,
    better: better.auth,
    cookies: {
      floor: `session=${seal(data)}`,
      web: String(await web.login(provider)),
      next: String(await next.login(provider)),
      auth0: String(await nextjsAuth0.login(provider)),
      authJs: String(await authJs.login(provider)),
      better: String(await better.login(provider)),
      nextAuth: `__Secure-next-auth.session-token=${await encode({ token: { ...claims, ...rest.tokenSet }, secret })}`,
      iron: `iron=${await sealData(data, { password: secret })}`,
    },
  }
}
