import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import type { RequestView } from './exchange.ts'

/** Headers of every response that must never be cached, by a browser or a proxy. */
export const NO_CACHE: readonly (readonly [name: string, value: string])[] = [
  ['Cache-Control', 'private, no-cache, no-store, must-revalidate, max-age=0'],
  ['Pragma', 'no-cache'],
  ['Expires', '0'],
]

/** Headers that precede `Cache-Control` in some caches (RFC 9213, nginx), and their values that prevent storing. */
const TARGETED = [
  ['CDN-Cache-Control', 'no-store'],
  ['Cloudflare-CDN-Cache-Control', 'no-store'],
  ['Netlify-CDN-Cache-Control', 'no-store'],
  ['Vercel-CDN-Cache-Control', 'no-store'],
  ['Surrogate-Control', 'no-store'],
  ['X-Accel-Expires', '0'],
  ['Edge-Control', 'no-store'],
  ['X-LiteSpeed-Cache-Control', 'no-store'],
] as const

/** Replaces the caching headers of a response, also those that the application has set for certain caches. */
export function noStore(headers: Pick<Headers, 'has' | 'set'>): void {
  for (const [name, value] of NO_CACHE) headers.set(name, value)
  for (const [name, value] of TARGETED) if (headers.has(name)) headers.set(name, value)
}

/** The headers of a response to a signed-in user, unless the application has decided about caching. */
export const PRIVATE = { 'Cache-Control': 'private, no-store' } as const

/** Forbids caches to store the response to a signed-in user, unless the application has decided about caching. */
export function noStoreByDefault(headers: Pick<Headers, 'has' | 'set'>): void {
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', PRIVATE['Cache-Control'])
}

function respond(status: number, body: string | null, headers: Headers): Response {
  noStore(headers)
  return new Response(body, { status, headers })
}

/** Returns a redirect; 303 unless the request is a GET, so that the browser follows with one. The target gets no `Referer`. */
export function redirect(location: string, { method }: Pick<RequestView, 'method'>): Response {
  const status = method === 'GET' || method === 'HEAD' ? 302 : 303
  return respond(status, null, new Headers({ Location: location, 'Referrer-Policy': 'no-referrer' }))
}

export function json(status: number, body: unknown, headers?: HeadersInit): Response {
  const all = new Headers(headers)
  all.set('Content-Type', 'application/json')
  all.set('X-Content-Type-Options', 'nosniff')
  return respond(status, JSON.stringify(body), all)
}

export function empty(status: number, headers?: HeadersInit): Response {
  return respond(status, null, new Headers(headers))
}

/** Returns `{"error":{"code","message"}}`. A custom message must not contain input. */
export function errorJson(status: number, code: Code, message: string = codes[code].message): Response {
  return json(status, { error: { code, message } })
}

/* A property of the response would be lost in no copy of ours, but would be visible to the application. */
const streamed = new WeakSet<Response>()

/** Returns a response whose body arrives bit by bit, so that hosts do not wait for its end. */
export function streamedResponse(body: ReadableStream<Uint8Array>, init: ResponseInit): Response {
  const response = new Response(body, init)
  streamed.add(response)
  return response
}

export const isStreamed = (response: Response): boolean => streamed.has(response)

/** Returns a new id for one request, shown to the user and logged, so that the two can be matched. */
export function newCorrelationId(): string {
  return crypto.randomUUID()
}
