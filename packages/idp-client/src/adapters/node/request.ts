import type { IncomingMessage } from 'node:http'
import { IdpError } from '../../errors/base.ts'
import type { RequestView } from '../../http/exchange.ts'
import { parseForm, readText } from '../../http/form.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { jsonBody, parseJson } from '../../http/json-body.ts'
import { lazy } from '../../lib/lazy.ts'
import { text } from '../../lib/utf8.ts'

/** The used part of Node's `IncomingMessage`, and what frameworks add to it. */
export type NodeRequest = Pick<IncomingMessage, 'headers' | 'method' | 'url' | 'socket'> &
  Partial<Pick<IncomingMessage, 'iterator' | 'readableDidRead'>> & {
    /** URL before a router removed its mount prefix (Express, Connect). */
    readonly originalUrl?: string
    /** The removed prefix, or the whole path if a pattern matched (`*`). */
    readonly baseUrl?: string
    /** Result of a body parser. */
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
        // Pseudo-headers of HTTP/2 and other invalid names; none is used here.
      }
    }
  }
  const authority = request.headers[':authority']
  if (typeof authority === 'string' && !headers.has('host')) headers.set('host', authority)
  return headers
}

/*
 * Placeholder if the request has no usable host: parses as a URL, but is rejected wherever the base URL is taken from
 * the request.
 */
const NO_HOST = 'unknown!'

function resolveOrigin(request: NodeRequest, host: string | null): string {
  const scheme = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
  const candidate = `${scheme}://${host}`
  // Reject what the URL parser would read as more than a host (a user name, a path).
  if (host !== null && /^[\w.:[\]-]+$/.test(host) && URL.canParse(candidate)) return new URL(candidate).origin
  return `${scheme}://${NO_HOST}`
}

/** Returns path and query of a request target; removes the origin of the absolute form (RFC 9112 section 3.2.2). */
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

/**
 * Converts the result of a form parser; nested values of extended parsers are dropped, because no form of the protocol
 * has any.
 */
function toForm(fields: object): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one === 'string') form.append(name, one)
    }
  }
  return form
}

/** A kind of body: how to convert it from a string, and from the result of the host's parser. */
interface BodyKind<T> {
  readonly fromString: (text: string) => T
  readonly fromObject: (object: object) => T
  /** The parser to recommend if none was used. */
  readonly parser: string
}

/** Returns the body from the result of a body parser, or `null` without one. */
function parsedBody<T>(body: unknown, { fromObject, fromString }: BodyKind<T>): T | null {
  if (body instanceof Uint8Array) return fromString(text(body))
  if (typeof body === 'string') return fromString(body)
  return typeof body === 'object' && body !== null ? fromObject(body) : null
}

async function readBody<T>(request: NodeRequest, kind: BodyKind<T>): Promise<T> {
  const { body, readableDidRead } = request
  // A parser that did not handle the content type may set an empty object and leave the stream unread.
  if (readableDidRead || !isEmptyObject(body)) {
    const parsed = parsedBody(body, kind)
    if (parsed) return parsed
  }
  if (readableDidRead) {
    const detail = `The body was read before, and req.body does not hold it: use ${kind.parser}.`
    throw new IdpError('INVALID_REQUEST', { detail })
  }
  // An abandoned stream must not destroy the connection, or the response would never arrive.
  const chunks = request.iterator?.({ destroyOnReturn: false })
  return kind.fromString(await readText(chunks ? { [Symbol.asyncIterator]: () => chunks } : null))
}

function readForm(request: NodeRequest, contentType: string | null): Promise<URLSearchParams> {
  const fromString = (body: string): URLSearchParams => parseForm(contentType, body)
  const fromObject = (fields: object): URLSearchParams => fromString(toForm(fields).toString())
  return readBody(request, { fromString, fromObject, parser: 'express.urlencoded() for forms' })
}

function readJson(request: NodeRequest, contentType: string | null): Promise<JsonBody> {
  return readBody(request, {
    fromString: (body) => parseJson(contentType, body),
    fromObject: (value) => jsonBody(contentType, value),
    parser: 'express.json() for JSON',
  })
}

/** Returns the request target as the browser sent it. */
export function requestTarget({ originalUrl, url = '/' }: NodeRequest): string {
  return originalUrl ?? url
}

/** Converts a Node request for the operations. Never throws, regardless of the request's content. */
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

/** Returns the mount prefix of a router, or `undefined` if no router removed one. */
export function mountPoint(request: NodeRequest): string | undefined {
  const path = mountedPath(request)
  const whole = toPathname(request.originalUrl ?? '/')
  if (path === undefined || path === '/' || !whole.endsWith(path)) return undefined
  return whole.slice(0, -path.length) || undefined
}

/**
 * Returns the path below the mount prefix of a router, or `undefined` if no router removed one. A pattern that matches
 * every path (`app.use('*', ...)`, `forRoutes('*')` of NestJS) removes the whole path, which is not a prefix.
 */
export function mountedPath(request: NodeRequest): string | undefined {
  const { baseUrl, originalUrl, url } = request
  if (originalUrl === undefined || url === undefined || originalUrl === url) return undefined
  const pathname = toPathname(url)
  const [whole = ''] = toPath(originalUrl).split('?', 1)
  return pathname === '/' && whole.replace(/\/$/, '') === baseUrl ? undefined : pathname
}
