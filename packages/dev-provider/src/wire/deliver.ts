import type { ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip, gzipSync } from 'node:zlib'
import type { Fault } from './faults.ts'
import type { BufferedResponse } from './message.ts'
import { isEncrypted, withBody } from './message.ts'

/** Produces the provider's real response; a fault that does not call it prevents the request's effect. */
export type Produce = () => Promise<BufferedResponse>

const MIB = 1_048_576
const DRIP_MS = 50

/** Sends a response unchanged. */
export function send(response: ServerResponse, buffered: BufferedResponse): void {
  response.writeHead(buffered.status, { ...buffered.headers, 'content-length': buffered.body.length })
  response.end(buffered.body)
}

/** Responds to a request with a fault. */
export async function sendFaulty(response: ServerResponse, fault: Fault, produce: Produce): Promise<void> {
  switch (fault.kind) {
    case 'delay': {
      const early = fault.commit ? await produce() : undefined
      await sleep(fault.ms)
      return send(response, early ?? (await produce()))
    }
    case 'respond':
      return respond(response, fault.status ?? 200, fault.headers ?? {}, fault.body ?? '')
    case 'reset':
      return reset(response, fault.at ?? 'headers', produce)
    case 'hang':
      if (fault.commit) await produce()
      return
    case 'empty':
      return respond(response, 200, { 'content-type': 'application/json' }, '')
    case 'null':
      return respond(response, 200, { 'content-type': 'application/json' }, 'null')
    case 'array':
      return respond(response, 200, { 'content-type': 'application/json' }, '[]')
    case 'huge':
      return sendHuge(response, fault.bytes ?? 64 * MIB)
    case 'gzipBomb':
      return sendGzipBomb(response, fault.bytes ?? 200 * MIB)
    case 'redirect':
      return redirect(response, fault.location, fault.status ?? 302)
    default:
      return distort(response, fault, await produce())
  }
}

/** Faults that are a variation of the real response. */
async function distort(
  response: ServerResponse,
  fault: Extract<
    Fault,
    {
      kind:
        | 'truncate'
        | 'label'
        | 'brokenGzip'
        | 'slowHeaders'
        | 'slowBody'
        | 'hugeHeader'
        | 'closeAfterAnswer'
    }
  >,
  buffered: BufferedResponse,
): Promise<void> {
  switch (fault.kind) {
    case 'truncate':
      return send(response, withBody(buffered, buffered.body.subarray(0, buffered.body.length / 2)))
    case 'label':
      return send(response, withHeaders(buffered, { 'content-type': fault.contentType ?? 'text/html' }))
    case 'brokenGzip': {
      // Damaged rather than cut off: clients forgive a missing end.
      const zipped = gzipSync(buffered.body)
      const middle = Math.floor(zipped.length / 2)
      zipped.fill(0xff, middle, middle + 16)
      return send(response, withHeaders(withBody(buffered, zipped), { 'content-encoding': 'gzip' }))
    }
    case 'hugeHeader':
      return send(response, withHeaders(buffered, { 'x-padding': 'p'.repeat(fault.bytes ?? 200_000) }))
    case 'slowHeaders':
      return drip(response, Buffer.concat([toHead(response, buffered), buffered.body]), fault.ms ?? DRIP_MS)
    case 'slowBody':
      response.socket?.write(toHead(response, buffered))
      return drip(response, buffered.body, fault.ms ?? DRIP_MS)
    case 'closeAfterAnswer': {
      const { socket } = response
      response.once('finish', () => setImmediate(() => socket?.destroy()))
      return send(response, buffered)
    }
  }
}

function withHeaders(
  response: BufferedResponse,
  headers: Readonly<Record<string, string>>,
): BufferedResponse {
  return { ...response, headers: { ...response.headers, ...headers } }
}

function respond(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  send(response, { status, headers, body: Buffer.from(body) })
}

function redirect(response: ServerResponse, location: string | undefined, status: number): void {
  respond(response, status, { location: location ?? response.req.url ?? '/' }, '')
}

async function reset(
  response: ServerResponse,
  at: 'headers' | 'body' | 'commit',
  produce: Produce,
): Promise<void> {
  const { socket } = response
  if (at === 'headers') return abort(socket)
  const buffered = await produce()
  if (at === 'commit') return abort(socket)
  response.writeHead(buffered.status, { ...buffered.headers, 'content-length': buffered.body.length })
  response.write(buffered.body.subarray(0, buffered.body.length / 2), () => abort(socket))
}

function abort(socket: ServerResponse['socket']): void {
  if (!socket) return
  // A TLS socket cannot send a reset itself; destroying it ends the connection without close_notify.
  if (isEncrypted(socket)) socket.destroy()
  else socket.resetAndDestroy()
}

/** Writes chunks with back-pressure until the client has gone away. */
async function pump(response: ServerResponse, chunks: Iterable<string | Buffer>): Promise<void> {
  for (const chunk of chunks) {
    if (response.destroyed) return
    if (!response.write(chunk)) {
      await new Promise<void>((resume) => {
        const go = (): void => {
          response.off('drain', go)
          response.off('close', go)
          resume()
        }
        response.once('drain', go)
        response.once('close', go)
      })
    }
  }
  response.end()
}

function* padding(bytes: number): Iterable<Buffer> {
  const block = Buffer.alloc(65_536, 'a')
  for (let left = bytes; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length))
}

function* hugeJson(bytes: number): Iterable<string | Buffer> {
  yield '{"padding":"'
  yield* padding(bytes)
  yield '"}'
}

function sendHuge(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  return pump(response, hugeJson(bytes))
}

function sendGzipBomb(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
  const gzip = createGzip({ level: 9 })
  const block = Buffer.alloc(MIB, ' ')
  let left = bytes
  const feed = (): void => {
    while (left > 0 && !gzip.destroyed) {
      const chunk = block.subarray(0, Math.min(left, block.length))
      left -= chunk.length
      if (!gzip.write(chunk)) {
        gzip.once('drain', feed)
        return
      }
    }
    gzip.end()
  }
  response.once('close', () => gzip.destroy())
  gzip.pipe(response)
  feed()
}

function toHead(response: ServerResponse, buffered: BufferedResponse): Buffer {
  const lines = [`HTTP/1.1 ${buffered.status} ${STATUS_CODES[buffered.status] ?? 'Unknown'}`]
  const headers = {
    ...response.getHeaders(),
    ...buffered.headers,
    'content-length': String(buffered.body.length),
    connection: 'close',
  }
  for (const [name, value] of Object.entries(headers)) {
    for (const single of [value].flat()) lines.push(`${name}: ${String(single)}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Writes to the bare socket, because a response object would add framing of its own. */
async function drip(response: ServerResponse, bytes: Buffer, ms: number): Promise<void> {
  const { socket } = response
  for (const byte of bytes) {
    if (!socket || socket.destroyed) return
    socket.write(Uint8Array.of(byte))
    await sleep(ms)
  }
  socket?.end()
}
