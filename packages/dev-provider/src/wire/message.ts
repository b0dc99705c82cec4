import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Failure } from './failure.ts'
import type { PresentedCertificate } from './peer-certificate.ts'
import { presentedCertificate } from './peer-certificate.ts'

/** One request, read completely. */
export interface Call {
  readonly method: string
  /** Path and query as received. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly encrypted: boolean
  readonly certificate?: PresentedCertificate | undefined
}

/** One response, before a byte of it is sent. */
export interface BufferedResponse {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  /** For the request log; not sent. */
  readonly failure?: Failure
}

/** Returns whether a socket is one of TLS. In Bun every socket has the property, in Node.js only those of TLS. */
export function isEncrypted(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

/** Reads a request to its end; `null` when it is larger than any real one. */
export async function readCall(request: IncomingMessage): Promise<Call | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes: Buffer = chunk
    size += bytes.length
    if (size > 1_048_576) return null
    chunks.push(bytes)
  }
  return {
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: request.headers,
    body: Buffer.concat(chunks),
    encrypted: isEncrypted(request.socket),
    certificate: presentedCertificate(request),
  }
}

/** Form fields of a call; of a repeated one the last counts. */
export function parseForm(call: Call): URLSearchParams {
  const isForm = call.headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false
  return new URLSearchParams(isForm ? call.body.toString('utf8') : '')
}

/** The JSON object in the body of a call, or `undefined` when there is none. */
export function parseJsonBody(call: Call): Record<string, unknown> | undefined {
  return jsonObject(call.headers['content-type'], call.body)
}

export function parseQuery(call: Call): URLSearchParams {
  const start = call.url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : call.url.slice(start + 1))
}

export function getPath(call: Call): string {
  return call.url.split('?', 1)[0] ?? '/'
}

/** The access token of a call that is sent as a bearer token (RFC 6750). */
export function getBearer(call: Call): string | undefined {
  return /^bearer (\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
}

/** A cookie of the call, undecoded. */
export function getCookie(call: Call, name: string): string | undefined {
  for (const part of (call.headers.cookie ?? '').split(';')) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim()
  }
  return undefined
}

export function jsonResponse(status: number, body: unknown): BufferedResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: Buffer.from(JSON.stringify(body)),
  }
}

export function htmlResponse(status: number, html: string): BufferedResponse {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      // Not no-referrer: with that a browser's own forms arrive with the origin null.
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
    body: Buffer.from(html),
  }
}

export function redirectResponse(location: string, status = 303): BufferedResponse {
  return { status, headers: { location, 'cache-control': 'no-store' }, body: Buffer.alloc(0) }
}

/** Returns the JSON object in a response, or `undefined`. */
export function parseJson(response: BufferedResponse): Record<string, unknown> | undefined {
  return jsonObject(String(response.headers['content-type'] ?? ''), response.body)
}

function jsonObject(contentType: string | undefined, body: Buffer): Record<string, unknown> | undefined {
  if (!contentType?.includes('json')) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A time as the APIs write it. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the response with another body and a correct Content-Length. */
export function withBody(response: BufferedResponse, body: string | Buffer): BufferedResponse {
  const bytesOfBody = Buffer.from(body)
  return {
    ...response,
    headers: { ...response.headers, 'content-length': String(bytesOfBody.length) },
    body: bytesOfBody,
  }
}
