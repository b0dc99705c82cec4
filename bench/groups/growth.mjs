import { randomBytes } from 'node:crypto'
import { generateSessionCookie } from '@auth0/nextjs-auth0/testing'
import { NextResponse } from 'next/server.js'
import { open, readSigned, seal, signedCookie } from '../lib/floor.mjs'
import { createOurSealer } from '../lib/internals.mjs'
import { compare } from '../lib/measure.mjs'
import { mustFind } from '../lib/must.mjs'
import { createNextClient, createNextjsAuth0, nextRequest } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'
import { referenceSession } from '../lib/sessions.mjs'
import { secret } from '../lib/settings.mjs'
import { backends, toPeerStore } from '../lib/stores.mjs'

/** Adds opaque access tokens for further audiences. As JSON Web Tokens, 50 of them fit into no cookie. */
function withTokens(session, count) {
  const accessTokens = Array.from({ length: count }, (_, index) => {
    const audience = `https://api-${index}.example.com`
    const { expiresAt } = session.tokenSet
    const scope = 'read:things write:things'
    const accessToken = randomBytes(32).toString('base64url')
    return { accessToken, expiresAt, audience, scope, requestedScope: scope }
  })
  return { ...session, accessTokens }
}

function withClaims(session, count) {
  const claims = Array.from({ length: count }, (_, index) => [`claim_${index}`, `value of claim ${index}`])
  return { ...session, user: { ...session.user, ...Object.fromEntries(claims) } }
}

const growths = [
  { unit: 'tokens', title: 'Further tokens', sizes: [0, 10, 50, 100], extend: withTokens },
  { unit: 'claims', title: 'Further claims', sizes: [0, 10, 100, 500], extend: withClaims },
]

/** Logs in to a product with a store, extends the session, and returns its header `Cookie`. */
async function logIn(client, login, { accessTokens, user }) {
  const cookie = String(await login)
  const session = await client.getSession(nextRequest('/page', cookie))
  const extended = { ...session, accessTokens, user: { ...session.user, ...user } }
  await client.updateSession(nextRequest('/page', cookie), NextResponse.next(), extended)
  return cookie
}

/** The kinds of work on one session, and the size of its sealed form. */
async function toWork(sealer, session) {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  const { createStore, get, remove, set } = backends.Memory()
  const ours = createNextClient(undefined, { sessionStore: createStore(0) })
  const peer = createNextjsAuth0({ sessionStore: toPeerStore({ get, remove, set }) })
  set('id', JSON.stringify(session))
  const cookies = {
    floor: signedCookie,
    ours: await logIn(ours.idp, ours.login(provider), session),
    peer: await logIn(peer.auth0, peer.login(provider), session),
  }
  const texts = {
    floor: seal(session),
    'idp-client': await sealer.seal(session),
    'nextjs-auth0': await generateSessionCookie(session, { secret }),
  }
  const request = (name) => nextRequest('/page', cookies[name])
  return {
    texts,
    works: {
      open: {
        floor: () => open(texts.floor),
        'idp-client': async () => (await sealer.open(texts['idp-client'])).data.user.sub,
      },
      seal: {
        floor: () => seal(session),
        'idp-client': () => sealer.seal(session),
        'nextjs-auth0': () => generateSessionCookie(session, { secret }),
      },
      stored: {
        floor: () => readSigned(request('floor').headers.get('cookie'), get),
        'idp-client': () => mustFind(ours.idp.getSession(request('ours'))),
        'nextjs-auth0': () => mustFind(peer.auth0.getSession(request('peer'))),
      },
    },
  }
}

/** Adds the time of an entry: of what is more than in the first size, divided by the number of entries. */
function withTimePerEntry(rows) {
  return rows.map((row) => {
    const first = rows.find(({ name }) => name === row.name)
    const perEntry = row.entries === 0 ? null : (row.micros - first.micros) / row.entries
    return { ...row, perEntry }
  })
}

async function measureGrowth({ extend, sizes, title, unit }, sealer, effort) {
  const candidates = { open: [], seal: [], stored: [] }
  const bytes = []
  for (const entries of sizes) {
    const { texts, works } = await toWork(sealer, extend(referenceSession(), entries))
    const size = { work: `${entries} ${unit}`, entries }
    for (const [work, runs] of Object.entries(works))
      candidates[work].push(...Object.entries(runs).map(([name, run]) => ({ name, ...size, run })))
    bytes.push(...Object.entries(texts).map(([name, { length }]) => ({ name, ...size, bytes: length })))
  }
  const rows = {}
  for (const [work, each] of Object.entries(candidates))
    rows[work] = (await compare(each, effort)).map((row, at) => ({ ...row, entries: each[at].entries }))
  const timed = (work, floor) => ({
    kind: 'growth',
    floor,
    rows: withTimePerEntry(rows[work]),
  })
  const cipher = 'AES-256-GCM by node:crypto'
  return [
    { title: `${title}: open a session cookie`, ...timed('open', `${cipher}, JSON.parse`) },
    { title: `${title}: seal a session cookie`, ...timed('seal', `JSON.stringify, ${cipher}`) },
    {
      title: `${title}: getSession with a memory store`,
      ...timed('stored', 'NextRequest, HMAC of an id, Map.get, JSON.parse'),
    },
    {
      title: `${title}: size of the sealed session`,
      kind: 'counts',
      rows: bytes,
    },
  ]
}

/** Time and size of sessions with more tokens and claims than the reference session. */
export async function measure(effort) {
  const sealer = await createOurSealer(secret)
  const tables = []
  for (const growth of growths) tables.push(...(await measureGrowth(growth, sealer, effort)))
  return tables
}
