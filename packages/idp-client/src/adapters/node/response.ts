import type { OutgoingHttpHeaders } from 'node:http'
import type { CookieJar, CookieSink } from '../../http/cookie-jar.ts'
import { serializeCookie } from '../../http/cookie-text.ts'
import type { CookieLines } from '../../http/host-state.ts'
import { cookieLines } from '../../http/host-state.ts'
import { noStore, noStoreByDefault } from '../../http/responses.ts'

/** The used part of Node's `ServerResponse`, and of `Http2ServerResponse`. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly destroyed: boolean
  getHeader(name: string): number | string | string[] | undefined
  setHeader(name: string, value: number | string | readonly string[]): unknown
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown
  /** Returns `false` if it accepts no more for now; adapters of AWS Lambda return nothing. */
  write(chunk: Uint8Array): unknown
  end(): unknown
  destroy(): unknown
  /** The stream of HTTP/2. */
  readonly stream?: { readonly destroyed: boolean; close(code: number): unknown }
  flushHeaders?(): void
  /** Sends what a compression keeps (`compression` of Express, and that of Next.js). */
  flush?(): void
  once(event: 'close' | 'drain', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}

/** Returns whether the client has left. The response of HTTP/2 does not tell, but its stream. */
export function isGone({ destroyed, stream }: NodeResponse): boolean {
  return destroyed || stream?.destroyed === true
}

type Header = OutgoingHttpHeaders[string]

function toLines(value: Header): string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [String(value)]
}

function headersOf(response: NodeResponse): Pick<Headers, 'has' | 'set'> {
  return {
    has: (name) => response.getHeader(name) !== undefined,
    set: (name, value) => response.setHeader(name, value),
  }
}

/** Forbids caches to store a response whose head has not been sent. */
export function forbidStoring(response: NodeResponse): void {
  if (!response.headersSent) noStoreByDefault(headersOf(response))
}

/**
 * Ensures that the response head has the newest line of each of our cookies, and forbids caching. Other lines of ours are
 * removed, also copies that a framework has made of them.
 */
function ensureHeaders(response: NodeResponse, ours: CookieLines): void {
  const written = [...ours.values()]
  const newest = written.flatMap(({ lines, isOutdated }) => (isOutdated() ? [] : lines.slice(-1)))
  const earlier = new Set(written.flatMap(({ lines }) => lines))
  for (const line of newest) earlier.delete(line)
  const kept = toLines(response.getHeader('set-cookie')).filter((line) => !earlier.has(line))
  response.setHeader('Set-Cookie', [...new Set([...kept, ...newest])])
  noStore(headersOf(response))
}

/** Collects the values of a list of headers, in which a name may occur several times. */
function collect(
  pairs: readonly (readonly [name: string, value: Header])[],
): [name: string, value: Header][] {
  const headers = new Map<string, { readonly name: string; readonly values: readonly string[] }>()
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    headers.set(key, { name, values: [...(headers.get(key)?.values ?? []), ...toLines(value)] })
  }
  return [...headers.values()].map(({ name, values }) => [name, values.length > 1 ? [...values] : values[0]])
}

/** Converts the headers of `writeHead`: an object, alternating names and values, or an array of pairs. */
function toPairs(headers: unknown): [name: string, value: Header][] {
  if (!Array.isArray(headers)) return Object.entries((headers ?? {}) as OutgoingHttpHeaders)
  if (Array.isArray(headers[0])) return collect(headers as [string, Header][])
  return collect(
    headers.flatMap((name, index) => (index % 2 === 0 ? [[String(name), headers[index + 1]]] : [])),
  )
}

/**
 * Moves headers that are passed with the status to those of the response; they would otherwise replace ours. Frameworks with
 * headers of their own pass copies of some lines (Fastify 4).
 */
function merge(response: NodeResponse, headers: unknown): void {
  const cookies = new Set(toLines(response.getHeader('set-cookie')))
  for (const [name, value] of toPairs(headers)) {
    if (value === undefined) continue
    if (name.toLowerCase() !== 'set-cookie') response.setHeader(name, value)
    else for (const line of toLines(value)) cookies.add(line)
  }
  if (cookies.size > 0) response.setHeader('Set-Cookie', [...cookies])
}

/**
 * Wraps `writeHead`. The application writes after us: it may replace all `Set-Cookie` lines, or allow caching. Both are
 * corrected when the head is sent.
 */
function guardHead(response: NodeResponse, ours: CookieLines): void {
  const writeHead = response.writeHead.bind(response) as (status: number, reason?: string) => NodeResponse
  const guarded = (status: number, ...rest: readonly unknown[]): NodeResponse => {
    const [reason] = rest
    merge(response, typeof reason === 'string' ? rest[1] : (rest[1] ?? reason))
    ensureHeaders(response, ours)
    return typeof reason === 'string' ? writeHead(status, reason) : writeHead(status)
  }
  response.writeHead = guarded as NodeResponse['writeHead']
}

/** Returns our lines on a response, and wraps its `writeHead` at the first call. */
function getOurLines(response: NodeResponse): CookieLines {
  return cookieLines(response, () => {
    const ours: CookieLines = new Map()
    guardHead(response, ours)
    return ours
  })
}

/**
 * Creates a sink of a jar that adds `Set-Cookie` lines to those of the application; a later line of ours replaces an
 * earlier one of the same name. Lines that are out of date when the head is sent are removed.
 */
export function responseSink(response: NodeResponse, cookies: CookieJar): CookieSink {
  return {
    set(name, value, attributes) {
      const ours = getOurLines(response)
      const line = serializeCookie({ name, value, attributes })
      ours.set(name, {
        lines: [...(ours.get(name)?.lines ?? []), line],
        isOutdated: () => cookies.isOutdated(name),
      })
      ensureHeaders(response, ours)
    },
  }
}

/** Adds `Set-Cookie` lines that were already serialized. */
export function appendCookies(response: NodeResponse, lines: readonly string[]): void {
  if (lines.length === 0) return
  response.setHeader('Set-Cookie', [...toLines(response.getHeader('set-cookie')), ...lines])
}
