import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { open } from '../lib/floor.mjs'
import { compare } from '../lib/measure.mjs'
import { must } from '../lib/must.mjs'
import { request } from '../lib/products.mjs'
import { createSessions } from '../lib/sessions.mjs'
import { origin } from '../lib/settings.mjs'

const server = fileURLToPath(new URL('../servers/api.mjs', import.meta.url))

/** Starts the API in a process of its own, whose CPU time does not count. */
async function startApi() {
  const child = spawn(process.execPath, [server], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve) =>
    child.stdout.once('data', (line) => resolve(String(line).trim())),
  )
  return { url, stop: () => child.kill() }
}

const page = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin }

/** The token in the session of the hand-written minimum. */
function readFloorToken({ headers }) {
  const cookie = headers.get('cookie') ?? ''
  return open(cookie.slice(cookie.indexOf('session=') + 'session='.length)).tokenSet.accessToken
}

/** The relay that an application would write by hand: it opens the session, sends the token, and passes the response on. */
const relay = (fetch, target, readToken) => async (each) => {
  const { pathname, search } = new URL(each.url)
  const headers = new Headers({ authorization: `Bearer ${await readToken(each)}` })
  for (const name of ['accept', 'content-type']) {
    const value = each.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const { method } = each
  const body = method === 'GET' ? {} : { body: each.body, duplex: 'half' }
  const upstream = await fetch(target + pathname.slice('/api/orders'.length) + search, {
    method,
    headers,
    redirect: 'manual',
    signal: each.signal,
    ...body,
  })
  const sent = new Headers({ 'cache-control': 'private, no-store' })
  const type = upstream.headers.get('content-type')
  if (type !== null) sent.set('content-type', type)
  return new Response(upstream.body, { status: upstream.status, headers: sent })
}

/** Reads the whole response, as a server does that sends it. */
async function mustRead(response) {
  const received = await response
  await must(received, 200)
  await received.arrayBuffer()
}

const kinds = {
  'Proxy, GET': (cookie) => request('/api/orders/7?open=1', cookie, { headers: page }),
  'Proxy, POST of 1 kB': (cookie) =>
    request('/api/orders', cookie, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'x'.repeat(1000) }),
    }),
}

/** A request of a page that the application sends on to an API with the token of the session. */
export async function measure(effort) {
  const { fetch } = globalThis
  const api = await startApi()
  const { ours, cookies } = await createSessions()
  const [{ idp, webCookie }] = ours
  idp.proxy({ prefix: '/api/orders', target: api.url, fetch })
  const byHand = relay(fetch, api.url, async (each) => (await idp.getAccessToken(each)).token)
  const minimum = relay(fetch, api.url, readFloorToken)
  const tables = []
  for (const [title, make] of Object.entries(kinds)) {
    const rows = await compare(
      [
        { name: 'floor', run: () => mustRead(idp.middleware(make(webCookie), byHand)) },
        { name: 'relay with a session of its own', run: () => mustRead(minimum(make(cookies.floor))) },
        { name: 'idp-client', run: () => mustRead(idp.middleware(make(webCookie))) },
      ],
      { ...effort, calls: effort.calls / 2 },
    )
    tables.push({
      title,
      floor:
        'Handler behind the middleware: `getAccessToken`, `fetch`, and a response with the body of the API',
      rows,
    })
  }
  api.stop()
  return tables
}
