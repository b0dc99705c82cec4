import { memoryStore } from 'idp-client/stores/memory'
import { NextResponse } from 'next/server.js'
import { signId } from '../lib/floor.mjs'
import { compare } from '../lib/measure.mjs'
import { createNextClient, createNextjsAuth0, nextRequest } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'
import { referenceSession } from '../lib/sessions.mjs'

/** The store of nextjs-auth0 as its documentation shows it, on a map. */
function createMapStore() {
  const records = new Map()
  return {
    get: async (id) => {
      const text = records.get(id)
      return text ? JSON.parse(text) : null
    },
    set: async (id, session) => {
      records.set(id, JSON.stringify(session))
    },
    delete: async (id) => {
      records.delete(id)
    },
    deleteByLogoutToken: async () => {},
  }
}

/** Sessions in the memory of the process. */
export async function measure(effort) {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const ours = createNextClient({ sessionStore: memoryStore({ name: 'bench' }) })
  const peer = createNextjsAuth0({ sessionStore: createMapStore() })
  const cookies = { ours: String(await ours.login(provider)), peer: String(await peer.login(provider)) }
  const records = new Map([['id', JSON.stringify(referenceSession())]])
  const signed = `id=id.${signId('id')}`
  const init = { headers: { accept: 'application/json' } }

  function readFloor() {
    const [id, signature] = nextRequest('/api/data', signed, init).headers.get('cookie').slice(3).split('.')
    return signId(id) === signature ? JSON.parse(records.get(id)) : null
  }

  const floor = 'NextRequest, HMAC of an id, Map.get, JSON.parse'
  return [
    {
      title: 'Memory store: getSession',
      floor,
      rows: await compare(
        [
          { name: 'floor', run: readFloor },
          {
            name: 'idp-client',
            run: () => ours.idp.getSession(nextRequest('/api/data', cookies.ours, init)),
          },
          {
            name: 'nextjs-auth0',
            run: () => peer.auth0.getSession(nextRequest('/api/data', cookies.peer, init)),
          },
        ],
        effort,
      ),
    },
    {
      title: 'Memory store: middleware with a session',
      floor: `${floor}, NextResponse.next()`,
      rows: await compare(
        [
          { name: 'floor', run: () => [readFloor(), NextResponse.next()] },
          {
            name: 'idp-client',
            run: () => ours.idp.middleware(nextRequest('/api/data', cookies.ours, init)),
          },
          {
            name: 'nextjs-auth0',
            run: () => peer.auth0.middleware(nextRequest('/api/data', cookies.peer, init)),
          },
        ],
        effort,
      ),
    },
  ]
}
