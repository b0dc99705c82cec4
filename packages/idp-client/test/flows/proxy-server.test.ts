import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express from 'express'
import type { Upstream } from 'idp-dev-provider'
import { startUpstream } from 'idp-dev-provider'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { IdpClient } from '../../src/adapters/express/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import type { BundledProgram } from '../support/bundled-program.ts'
import { bundleProgram } from '../support/bundled-program.ts'
import { SECRET } from '../support/engine.ts'
import { startNginx } from '../support/nginx.ts'
import { OWN, PROXIED_OPTIONS } from '../support/proxied.ts'
import { serve } from '../support/serve.ts'

const GIB = 1_073_741_824
const MIB = 1_048_576
const APP = 'http://localhost:3000'

let program: BundledProgram
let upstream: Upstream
let server: ChildProcess
let url: string
let headers: Record<string, string>

beforeAll(async () => {
  upstream = await startUpstream()
  program = await bundleProgram('proxied-process')
  server = spawn(process.execPath, ['--expose-gc', program.file], {
    env: { ...process.env, UPSTREAM: upstream.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  url = await new Promise((resolve) => server.stdout?.once('data', (line) => resolve(String(line).trim())))
  const cookie = await generateCookieHeader({ user: { sub: 'carol' } }, { secret: SECRET })
  headers = { ...OWN, origin: APP, host: 'localhost:3000', cookie }
})
afterEach(() => upstream.reset())
afterAll(async () => {
  server.kill()
  await upstream.close()
  await program.remove()
})

const reachable = async (): Promise<number> => Number(await (await fetch(`${url}/memory`)).text())

/** Starts a request over a connection of its own. */
function open(
  path: string,
  method = 'GET',
  further = {},
  at = url,
): { sent: ClientRequest; response: Promise<IncomingMessage> } {
  const sent = request(at + path, { method, headers: { ...headers, ...further }, agent: false })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject)
  })
  response.catch(() => undefined)
  return { sent, response }
}

describe('a body of 1 GiB', () => {
  test('from the API leaves less than 50 MB, also while it passes', async () => {
    upstream.respond({ kind: 'big', bytes: GIB })
    const before = await reachable()
    const { response, sent } = open('/api/big')
    sent.end()
    let received = 0
    let during = 0
    for await (const chunk of await response) {
      received += (chunk as Buffer).length
      if (during === 0 && received > GIB / 2) during = await reachable()
    }
    expect(received).toBe(GIB)
    expect(during - before).toBeLessThan(50_000_000)
    expect((await reachable()) - before).toBeLessThan(50_000_000)
  })

  test('to the API leaves less than 50 MB, and arrives as it was sent', async () => {
    const before = await reachable()
    const hash = createHash('sha256')
    const { response, sent } = open('/api/upload', 'PUT', { 'content-type': 'application/octet-stream' })
    let count = 0
    let during = 0
    const chunk = Buffer.alloc(MIB, 'idp-client')
    async function* body(): AsyncGenerator<Buffer> {
      while (count < 1024) {
        if (count === 512) during = await reachable()
        count += 1
        hash.update(chunk)
        yield chunk
      }
    }
    await pipeline(Readable.from(body()), sent)
    expect((await response).statusCode).toBe(200)
    expect(upstream.requests[0]).toMatchObject({ bodyBytes: GIB, sha256: hash.digest('hex') })
    expect(during - before).toBeLessThan(50_000_000)
    expect((await reachable()) - before).toBeLessThan(50_000_000)
  })
})

describe('a client that leaves', () => {
  test('before the head ends the request to the API', async () => {
    upstream.respond({ kind: 'silent' })
    const { sent } = open('/api/silent')
    sent.end()
    await upstream.until(() => upstream.requests.length === 1)
    sent.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
  })

  test('while an event stream is silent ends the request to the API', async () => {
    upstream.respond({ kind: 'events' })
    const { response, sent } = open('/api/events')
    sent.end()
    // The head arrives although the API has sent no event.
    expect((await response).statusCode).toBe(200)
    sent.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
  })

  test('in the middle of its upload ends the request to the API', async () => {
    const { sent } = open('/api/upload', 'POST')
    const send = (): void => {
      while (sent.writable && sent.write(Buffer.alloc(65_536))) {
        // Until the connection takes no more.
      }
    }
    sent.on('drain', send)
    send()
    await upstream.until(() => (upstream.requests[0]?.bodyBytes ?? 0) > MIB)
    sent.destroy()
    await upstream.until(() => upstream.requests[0]?.aborted === true)
  })
})

test('a response that the API cuts breaks off for the client, too', async () => {
  upstream.respond({ kind: 'cut', after: 1000 })
  const { response, sent } = open('/api/cut')
  sent.end()
  const received = await response
  await expect(
    pipeline(received, async (body: AsyncIterable<Buffer>) => {
      for await (const _chunk of body);
    }),
  ).rejects.toThrow()
})

test('behind nginx, events arrive when they come', async () => {
  const nginx = await startNginx(url, ['proxy_http_version 1.1;', 'proxy_set_header Host $http_host;'])
  try {
    upstream.respond({ kind: 'events' })
    const { response, sent } = open('/api/events', 'GET', {}, nginx.url)
    sent.end()
    const events = (await response)[Symbol.asyncIterator]()
    for (const event of ['one', 'two']) {
      await upstream.push(event)
      expect(String((await events.next()).value)).toContain(event)
    }
    sent.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
  } finally {
    await nginx.stop()
  }
})

test('a body parser in front of the middleware is an error that names it, and nothing is sent', async () => {
  const idp = new IdpClient(PROXIED_OPTIONS)
  idp.proxy({ prefix: '/api', target: upstream.url })
  const app = express()
  app.use(express.json())
  app.use(idp.middleware)
  await serve(app, async (at) => {
    const post = async (body: string, type: string) => {
      const { response, sent } = open('/api', 'POST', { 'content-type': type }, at)
      sent.end(body)
      const received = await response
      return [received.statusCode, String(await received.toArray())]
    }
    const [status, text] = await post('{"a":1}', 'application/json')
    expect(status).toBe(500)
    expect(text).toContain('PROXY_BODY_CONSUMED')
    expect(upstream.connections).toBe(0)
    // The parser leaves bodies of other types.
    expect((await post('text', 'text/plain'))[0]).toBe(200)
    expect(upstream.requests[0]?.bodyBytes).toBe(4)
  })
})
