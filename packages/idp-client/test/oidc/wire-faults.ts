import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Recorded, Responder } from './local-provider.ts'
import { json } from './local-provider.ts'

/** Faults in the transport of a response, for any endpoint that responds with a JSON object. */
export interface Fault {
  readonly title: string
  /** `good` sends the valid response, for faults that only change its transport. */
  readonly respond: (response: ServerResponse, request: Recorded, good: Responder) => void | Promise<void>
  /** Ends by httpTimeout, so the test sets a short one. */
  readonly timeout?: boolean
  /** The response is unusual but usable. */
  readonly tolerated?: boolean
  /** Another attempt may succeed: no response, 429, 5xx. */
  readonly transient?: boolean
  readonly status?: number
}

const typed =
  (body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }

/** Sends bytes one by one for as long as a client reads. */
function drip(response: ServerResponse, text: string): void {
  let position = 0
  const timer = setInterval(() => {
    if (response.destroyed) clearInterval(timer)
    else response.write(text[position++ % text.length])
  }, 20)
  response.on('close', () => clearInterval(timer))
}

function bomb(): Buffer {
  return gzipSync(Buffer.alloc(64 * 1_048_576, ' '))
}

/** Sends the response of `good` with its text changed. */
const rewritten =
  (change: (text: string) => string, headers: Record<string, string> = {}): Fault['respond'] =>
  async (response, request, good) => {
    const parts: string[] = []
    const recorder = {
      writeHead() {},
      end: (text: string) => void parts.push(text),
    } as unknown as ServerResponse
    await good(recorder, request)
    typed(change(parts.join('')), headers)(response)
  }

const html = '<html><body>Sign in to the network</body></html>'

export const faults: readonly Fault[] = [
  { title: 'never responds', respond: () => {}, timeout: true, transient: true },
  {
    title: 'headers dripped byte by byte',
    respond: (response) => drip(response.socket as unknown as ServerResponse, 'HTTP/1.1 200 OK\r\nX-Slow: a'),
    timeout: true,
    transient: true,
  },
  {
    title: 'body dripped byte by byte',
    respond: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      drip(response, ' ')
    },
    timeout: true,
    transient: true,
  },
  {
    title: '500 JSON',
    respond: (response) => json(response, { error: 'server_error' }, 500),
    transient: true,
    status: 500,
  },
  {
    title: '502 HTML',
    respond: (response) => {
      response.writeHead(502, { 'content-type': 'text/html' })
      response.end(html)
    },
    transient: true,
    status: 502,
  },
  {
    title: '503 with Retry-After',
    respond: (response) => json(response, {}, 503, { 'retry-after': '7' }),
    transient: true,
    status: 503,
  },
  {
    title: '429 with Retry-After',
    respond: (response) => json(response, {}, 429, { 'retry-after': '7' }),
    transient: true,
    status: 429,
  },
  {
    title: '200 HTML of a captive portal',
    respond: (response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(html)
    },
  },
  { title: 'truncated JSON', respond: rewritten((text) => text.slice(0, -5)) },
  { title: 'an empty body', respond: typed('') },
  { title: 'null', respond: typed('null') },
  { title: 'a list', respond: typed('[]') },
  { title: 'a text', respond: typed('"issuer"') },
  {
    title: 'JSON labelled as HTML',
    respond: rewritten((text) => text, { 'content-type': 'text/html' }),
    tolerated: true,
  },
  { title: 'reset before headers', respond: (response) => void response.socket?.destroy(), transient: true },
  {
    title: 'reset in mid body',
    respond: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"issuer":', () => response.socket?.destroy())
    },
    transient: true,
  },
  { title: 'a body of 64 MiB by content-length', respond: typed(Buffer.alloc(64 * 1_048_576, ' ')) },
  {
    title: 'an endless body without content-length',
    respond: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    },
  },
  { title: 'a gzip bomb', respond: (response) => typed(bomb(), { 'content-encoding': 'gzip' })(response) },
  {
    title: 'a broken gzip stream',
    respond: typed('not gzip', { 'content-encoding': 'gzip' }),
    transient: true,
  },
  { title: 'a header of 200 kB', respond: typed('{}', { 'x-large': 'x'.repeat(200_000) }), transient: true },
  {
    title: 'a redirect to another place',
    respond: (response) => {
      response.writeHead(302, { location: '/sink' })
      response.end()
    },
  },
  {
    title: 'a redirect to itself',
    respond: (response, request) => {
      response.writeHead(307, { location: request.url })
      response.end()
    },
  },
  {
    title: 'members named __proto__ and constructor',
    respond: rewritten((text) =>
      text.replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":1},'),
    ),
    tolerated: true,
  },
  { title: 'deeply nested JSON', respond: typed(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) },
]
