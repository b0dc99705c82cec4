import { createPublicKey } from 'node:crypto'
import { createFloorLogin } from '../lib/floor.mjs'
import { compare } from '../lib/measure.mjs'
import {
  createAuthJs,
  createBetterAuth,
  createNextClient,
  createNextjsAuth0,
  createOpenidClient,
  createWebClient,
} from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'
import { issuer } from '../lib/settings.mjs'

async function readKeys(provider) {
  const { keys } = await (await provider.fetch(`${issuer}/jwks`)).json()
  return new Map(keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]))
}

/** Login and callback, from the first redirect to the session cookie. The work of the provider's stub is not counted. */
export async function measure(effort) {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const floor = createFloorLogin({ ...provider, keys: await readKeys(provider) })
  const products = {
    'idp-client (web)': createWebClient(),
    'idp-client (next)': createNextClient(),
    'nextjs-auth0': createNextjsAuth0(),
    'Auth.js': createAuthJs(),
    'better-auth': createBetterAuth(),
    'openid-client, called directly': await createOpenidClient(),
  }
  const candidates = Object.entries(products).map(([name, product]) => ({
    name,
    run: () => product.login(provider),
    provider: provider.spent,
  }))
  return [
    {
      title: 'Login and callback',
      floor: 'by hand: PKCE, state, nonce, signature by node:crypto, sealed cookies',
      rows: await compare([{ name: 'floor', run: floor, provider: provider.spent }, ...candidates], effort),
    },
  ]
}
