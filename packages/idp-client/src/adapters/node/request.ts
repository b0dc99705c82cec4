import type { IncomingMessage } from 'node:http'
import { IdpError } from '../../errors/base.ts'
import type { RequestView } from '../../http/exchange.ts'
import { parseForm, readText } from '../../http/form.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { jsonBody, parseJson } from '../../http/json-body.ts'
import { text } from '../../lib/base64url.ts'
import { lazy } from '../../lib/lazy.ts'

/** The part of Node's `IncomingMessage` that is read, and what frameworks on top of it add. */
export type NodeRequest = Pick<IncomingMessage, 'headers' | 'method' | 'url' | 'socket'> &
  Partial<Pick<IncomingMessage, 'iterator' | 'readableDidRead'>> & {
    /** The URL before a router removed the prefix that it is mounted under (Express, Connect). */
    readonly originalUrl?: string
    /** The prefix that it removed, or all of the path where a pattern matched (`*`). */
    readonly baseUrl?: string
    /** The result of a body parser. */
    readonly body?: unknown
  }

function toHeaders(request: NodeRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined) continue
      try {
        headers.append(name, one)
      } catch {
        // Pseudo headers of HTTP/2, and whatever else cannot be a header, say nothing that is read here.
      }
    }
  }
  const authority = request.headers[':authority']
  if (typeof authority === 'string' && !headers.has('host')) headers.set('host', authority)
  return headers
}

/* Stands where the request names no usable host: parses as a URL, and is refused wherever a host is taken from a request. */
const NO_HOST = 'unknown!'

function resolveOrigin(request: NodeRequest, host: string | null): string {
  const scheme = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
  const candidate = `${scheme}://${host}`
  // A value that the URL parser reads as more than a host (a user name, a path) is rejected.
  if (host !== null && /^[\w.:[\]-]+$/.test(host) && URL.canParse(candidate)) return new URL(candidate).origin
  return `${scheme}://${NO_HOST}`
}

/** Path and query of a request target; a target in absolute form (RFC 9112 section 3.2.2) loses its origin. */
function toPath(target: string): string {
  if (target.startsWith('/')) return target
  if (!URL.canParse(target)) return '/'
  const { pathname, search } = new URL(target)
  return pathname.startsWith('/') ? pathname + search : '/'
}

function toPathname(target: string): string {
  return new URL(`http://localhost${toPath(target)}`).pathname
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** A parsed form as a parser left it; nested values of extended parsers are no part of any form of the protocol. */
function toForm(fields: object): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one === 'string') form.append(name, one)
    }
  }
  return form
}

/** One kind of body: what makes it of a text, and of what the parser of the host for it leaves. */
interface BodyKind<T> {
  readonly ofText: (text: string) => T
  readonly ofObject: (object: object) => T
  /** The parser to use, for applications without one. */
  readonly parser: string
}

/** The body in what a body parser left; null when it left nothing. */
function parsedBody<T>(body: unknown, { ofObject, ofText }: BodyKind<T>): T | null {
  if (body instanceof Uint8Array) return ofText(text(body))
  if (typeof body === 'string') return ofText(body)
  return typeof body === 'object' && body !== null ? ofObject(body) : null
}

async function readBody<T>(request: NodeRequest, kind: BodyKind<T>): Promise<T> {
  const { body, readableDidRead } = request
  // A parser that was not in charge may leave an empty object and the stream untouched.
  if (readableDidRead || !isEmptyObject(body)) {
    const parsed = parsedBody(body, kind)
    if (parsed) return parsed
  }
  if (readableDidRead) {
    const detail = `The body was read before, and req.body does not hold it: use ${kind.parser}.`
    throw new IdpError('INVALID_REQUEST', { detail })
  }
  // A stream that is given up must not take the connection down, or the answer would never arrive.
  const chunks = request.iterator?.({ destroyOnReturn: false })
  return kind.ofText(await readText(chunks ? { [Symbol.asyncIterator]: () => chunks } : null))
}

function readForm(request: NodeRequest, contentType: string | null): Promise<URLSearchParams> {
  const ofText = (body: string): URLSearchParams => parseForm(contentType, body)
  const ofObject = (fields: object): URLSearchParams => ofText(toForm(fields).toString())
  return readBody(request, { ofText, ofObject, parser: 'express.urlencoded() for forms' })
}

function readJson(request: NodeRequest, contentType: string | null): Promise<JsonBody> {
  return readBody(request, {
    ofText: (body) => parseJson(contentType, body),
    ofObject: (value) => jsonBody(contentType, value),
    parser: 'express.json() for JSON',
  })
}

/** The request target as the browser sent it. */
export function requestTarget({ originalUrl, url = '/' }: NodeRequest): string {
  return originalUrl ?? url
}

/** Returns the view of a Node request that operations read. Never throws, whatever the browser sent. */
export function toRequestView(request: NodeRequest): RequestView {
  const headers = toHeaders(request)
  const origin = resolveOrigin(request, headers.get('host'))
  return {
    headers,
    method: request.method ?? 'GET',
    url: new URL(origin + toPath(requestTarget(request))),
    form: lazy(() => readForm(request, headers.get('content-type'))),
    json: lazy(() => readJson(request, headers.get('content-type'))),
  }
}

/** The prefix that a router is mounted under; undefined where no router has removed one. */
export function mountPoint(request: NodeRequest): string | undefined {
  const path = mountedPath(request)
  const whole = toPathname(request.originalUrl ?? '/')
  if (path === undefined || path === '/' || !whole.endsWith(path)) return undefined
  return whole.slice(0, -path.length) || undefined
}

/**
 * Path below the prefix that a router is mounted under; undefined where no router has removed one. A pattern that matches
 * every path (`app.use('*', ...)`, `forRoutes('*')` of NestJS) removes the whole path, and is no prefix.
 */
export function mountedPath(request: NodeRequest): string | undefined {
  const { baseUrl, originalUrl, url } = request
  if (originalUrl === undefined || url === undefined || originalUrl === url) return undefined
  const pathname = toPathname(url)
  const [whole = ''] = toPath(originalUrl).split('?', 1)
  return pathname === '/' && whole.replace(/\/$/, '') === baseUrl ? undefined : pathname
}
