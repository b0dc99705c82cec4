import { createPublicKey } from 'node:crypto'
import { createExpressProduct } from '../lib/express.mjs'
import { createFloorLogin } from '../lib/floor.mjs'
import { measureLoaderHook } from '../lib/loader-hook.mjs'
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
  const products = [
    ['idp-client', 'Web', createWebClient],
    ['idp-client', 'Next.js', createNextClient],
    ['idp-client', 'Express', () => createExpressProduct('idp-client')],
    ['nextjs-auth0', 'Next.js', createNextjsAuth0],
    ['express-openid-connect', 'Express', () => createExpressProduct('express-openid-connect')],
    ['Auth.js', 'Web', createAuthJs],
    ['better-auth', 'Web', createBetterAuth],
    ['openid-client', 'called directly', createOpenidClient],
  ]
  const candidates = [{ name: 'floor', run: floor, provider: provider.spent }]
  for (const [name, work, create] of products) {
    const product = await create()
    candidates.push({ name, work, run: () => product.login(provider), provider: provider.spent })
  }
  return [
    {
      title: 'Login and callback',
      floor: 'by hand: PKCE, state, nonce, signature by node:crypto, sealed cookies',
      rows: await compare(candidates, effort),
    },
    {
      title: 'Login and callback with a loader hook',
      kind: 'counts',
      rows: [
        { name: 'idp-client', ...(await measureLoaderHook('idp-client', effort)) },
        { name: 'nextjs-auth0', ...(await measureLoaderHook('nextjs-auth0', effort)) },
      ],
    },
  ]
}
