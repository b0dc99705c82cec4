import { NextResponse } from 'next/server.js'
import { createNextClient, createNextjsAuth0, nextRequest } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'

const PARALLEL = 50

/** Calls of one user at the same time, whose access token has expired; the provider rotates refresh tokens. */
async function burst(create, toClient) {
  const provider = createProvider({ expiresIn: 1, rotates: true })
  globalThis.fetch = provider.fetch
  const product = create()
  const cookie = String(await product.login(provider))
  const token = { refresh: true }
  await new Promise((resolve) => setTimeout(resolve, 1100))
  const before = provider.requests.get('/oauth/token')
  const calls = Array.from({ length: PARALLEL }, () =>
    toClient(product).getAccessToken(nextRequest('/api', cookie), NextResponse.next(), token),
  )
  const settled = await Promise.allSettled(calls)
  return {
    refreshes: provider.requests.get('/oauth/token') - before,
    failures: settled.filter(({ status }) => status === 'rejected').length,
  }
}

/** Counts the refreshes of 50 parallel calls with an expired access token, at a provider that rotates refresh tokens. */
export async function measure() {
  const rows = []
  for (const [name, create, toClient] of [
    ['idp-client', createNextClient, ({ idp }) => idp],
    ['nextjs-auth0', createNextjsAuth0, ({ auth0 }) => auth0],
  ]) {
    rows.push({ name, ...(await burst(create, toClient)) })
  }
  return [
    {
      title: `${PARALLEL} parallel calls, one expired session, rotating refresh tokens`,
      kind: 'counts',
      rows,
    },
  ]
}
