import { createPublicKey } from 'node:crypto'
import { builds } from '../lib/builds.mjs'
import { createExpressProduct } from '../lib/express.mjs'
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
  const products = [
    ...builds.flatMap((build) => [
      [build.name, 'Web', () => createWebClient(build)],
      [build.name, 'Next.js', () => createNextClient(build)],
      [build.name, 'Express', () => createExpressProduct(build.name)],
    ]),
    ['nextjs-auth0', 'Next.js', createNextjsAuth0],
    ['express-openid-connect', 'Express', () => createExpressProduct('express-openid-connect')],
    ['Auth.js', 'Web', createAuthJs],
    ['Auth.js', 'as it comes', () => createAuthJs(false)],
    ['better-auth', 'Web', createBetterAuth],
    ['better-auth', 'as it comes', () => createBetterAuth(false)],
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
  ]
}
