import { NextResponse } from 'next/server.js'
import { builds } from '../lib/builds.mjs'
import { readSigned, signedCookie } from '../lib/floor.mjs'
import { senders } from '../lib/headers.mjs'
import { compare } from '../lib/measure.mjs'
import { mustFind } from '../lib/must.mjs'
import { createNextClient, createNextjsAuth0, nextRequest } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'
import { referenceSession } from '../lib/sessions.mjs'
import { backends, toPeerStore } from '../lib/stores.mjs'

const init = { headers: senders.browser.api }

async function compareBackend(name, { floor, get, set, ...backend }, effort) {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const ours = []
  for (const [index, build] of builds.entries()) {
    const { idp, login } = createNextClient(build, { sessionStore: backend.createStore(index) })
    const cookie = String(await login(provider))
    ours.push({ name: build.name, idp, toRequest: () => nextRequest('/api/data', cookie, init) })
  }
  const peer = createNextjsAuth0({ sessionStore: toPeerStore({ get, set, remove: backend.remove }) })
  const peerCookie = String(await peer.login(provider))
  await set('id', JSON.stringify(referenceSession()))

  const readFloor = () => readSigned(nextRequest('/api/data', signedCookie, init).headers.get('cookie'), get)
  const peerRequest = () => nextRequest('/api/data', peerCookie, init)
  const work = `NextRequest, HMAC of an id, ${floor}, JSON.parse`
  return [
    {
      title: `${name} store: getSession`,
      floor: work,
      rows: await compare(
        [
          { name: 'floor', run: readFloor },
          ...ours.map(({ idp, name: each, toRequest }) => ({
            name: each,
            run: () => mustFind(idp.getSession(toRequest())),
          })),
          { name: 'nextjs-auth0', run: () => mustFind(peer.auth0.getSession(peerRequest())) },
        ],
        effort,
      ),
    },
    {
      title: `${name} store: middleware with a session`,
      floor: `${work}, NextResponse.next()`,
      rows: await compare(
        [
          { name: 'floor', run: async () => [await readFloor(), NextResponse.next()] },
          ...ours.map(({ idp, name: each, toRequest }) => ({
            name: each,
            run: () => idp.middleware(toRequest()),
          })),
          { name: 'nextjs-auth0', run: () => peer.auth0.middleware(peerRequest()) },
        ],
        effort,
      ),
    },
  ]
}

async function measureBackend(name, start, effort) {
  let backend
  try {
    backend = await start()
  } catch (error) {
    return [{ title: `${name} store`, missing: error.message.trim().split('\n', 1)[0] }]
  }
  try {
    return await compareBackend(name, backend, effort)
  } finally {
    await backend.stop()
  }
}

/** Sessions in the memory of the process and in servers on loopback. */
export async function measure(effort) {
  const tables = []
  for (const [name, start] of Object.entries(backends))
    tables.push(...(await measureBackend(name, start, effort)))
  return tables
}
