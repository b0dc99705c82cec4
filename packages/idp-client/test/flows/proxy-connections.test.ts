import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect } from 'node:net'
import type { Upstream } from 'idp-dev-provider'
import { startUpstream } from 'idp-dev-provider'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ProxyOptions } from '../../src/adapters/node/index.ts'
import { IdpClient } from '../../src/adapters/node/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { SECRET } from '../support/engine.ts'
import { OWN, PROXIED_OPTIONS } from '../support/proxied.ts'

const APP = 'http://localhost:3000'

/** More than the listeners that Node.js expects of one event. */
const MANY = 12

let upstream: Upstream
let headers: Record<string, string>
const ends: (() => unknown)[] = []

beforeEach(async () => {
  upstream = await startUpstream()
  const cookie = await generateCookieHeader({ user: { sub: 'carol' } }, { secret: SECRET })
  headers = { ...OWN, origin: APP, cookie }
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  await upstream.close()
})

function createClient(proxy: Partial<ProxyOptions> = {}): IdpClient {
  const idp = new IdpClient(PROXIED_OPTIONS)
  idp.proxy({ prefix: '/api', target: upstream.url, ...proxy })
  return idp
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  return (server.address() as AddressInfo).port
}

describe('HTTP/2', () => {
  let session: ClientHttp2Session

  beforeEach(async () => {
    const idp = createClient()
    const port = await listen(
      createHttp2Server((request, response) => void idp.middleware(request, response, () => response.end())),
    )
    session = connectHttp2(`http://127.0.0.1:${port}`)
    ends.push(() => session.close())
  })

  const open = (further: Record<string, string>) =>
    session.request({ ':path': '/api/orders', ':authority': 'localhost:3000', ...headers, ...further })

  test('a body without a stated length arrives', async () => {
    const stream = open({ ':method': 'POST' })
    stream.end('the body')
    await once(stream.resume(), 'close')
    expect(upstream.requests[0]?.bodyBytes).toBe(8)
  })

  test('a request without a body has none', async () => {
    const stream = open({ ':method': 'POST' })
    stream.end()
    await once(stream.resume(), 'close')
    expect(upstream.requests[0]?.bodyBytes).toBe(0)
  })

  test('a response that the API cuts never looks complete', async () => {
    upstream.respond({ kind: 'cut', after: 100_000 })
    const stream = open({})
    stream.end()
    const failure = once(stream, 'error')
    stream.resume()
    await Promise.race([
      failure,
      once(stream, 'close').then(() => Promise.reject(new Error('it looked complete'))),
    ])
  })
})

describe('a connection that is used again', () => {
  let socket: Socket

  async function start(proxy: Partial<ProxyOptions> = {}): Promise<void> {
    const idp = createClient(proxy)
    const server = createServer((request, response) => {
      // As middleware does that rewrites addresses.
      if (request.url === '/api/rewritten')
        Object.assign(request, { originalUrl: request.url, url: '/app/orders' })
      void idp.middleware(request, response, () => response.end('next'))
    })
    socket = connect(await listen(server), '127.0.0.1')
    ends.push(() => socket.destroy())
  }

  const head = (method: string, path: string, further: Record<string, string> = {}) =>
    `${method} ${path} HTTP/1.1\r\n${Object.entries({ host: 'localhost:3000', ...headers, ...further })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`

  async function receive(text: string): Promise<void> {
    for await (const chunk of socket.iterator({ destroyOnReturn: false }))
      if (String(chunk).includes(text)) return
    throw new Error('the connection was closed')
  }

  test('serves the next request when the API has responded before the end of the body', async () => {
    upstream.respond({ kind: 'respond', status: 413, body: 'too long' }, { early: true })
    await start()
    socket.write(head('POST', '/api/orders', { 'content-length': '200000' }))
    socket.write(Buffer.alloc(10_000))
    await receive('413')
    socket.write(Buffer.alloc(190_000))
    socket.write(head('GET', '/page'))
    await receive('next')
  })

  test('waits for many responses at once without a warning, and ends all requests to the API when its client leaves', async () => {
    const warnings: string[] = []
    const warn = ({ message }: Error): unknown => warnings.push(message)
    process.on('warning', warn)
    ends.push(() => process.off('warning', warn))
    upstream.respond({ kind: 'silent' })
    await start()
    socket.write(head('GET', '/api/orders').repeat(MANY))
    await upstream.until(() => upstream.requests.length === MANY)
    socket.destroy()
    await upstream.until(() => upstream.requests.every(({ closedEarly }) => closedEarly))
    expect(warnings).toEqual([])
  })

  test('refuses a body that is compressed for the connection alone, which Node.js passes on as it is', async () => {
    await start()
    socket.write(head('POST', '/api/orders', { 'transfer-encoding': 'gzip, chunked' }))
    socket.write('3\r\nabc\r\n0\r\n\r\n')
    await receive('PROXY_CONTENT_REFUSED')
    expect(upstream.connections).toBe(0)
    socket.write(head('GET', '/page'))
    await receive('next')
  })

  test.each(['/api/./orders', '/api/orders\\1', '/api/rewritten'])(
    'refuses the path %s, which is another one as it arrived',
    async (path) => {
      await start()
      socket.write(head('GET', path))
      await receive('PROXY_PATH_REFUSED')
      expect(upstream.connections).toBe(0)
    },
  )
})
