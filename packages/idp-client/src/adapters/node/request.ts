import type { IncomingMessage } from 'node:http'
import { IdpError } from '../../errors/base.ts'
import type { Auth } from '../../guards/auth.ts'
import type { JsonBody } from '../../http/body.ts'
import { jsonBody, parseForm, parseJson, readText } from '../../http/body.ts'
import type { RequestHeaders, RequestView, Transfer } from '../../http/exchange.ts'
import { openMountLine } from '../../http/host-state.ts'
import { lazy } from '../../lib/request-scope.ts'
import { parseUrl } from '../../lib/url.ts'
import { text } from '../../lib/utf8.ts'

/** The used part of Node's `IncomingMessage`, and what frameworks add to it. */
export type NodeRequest = Pick<IncomingMessage, 'headers' | 'method' | 'url' | 'socket'> &
  Partial<NodeStream> & {
    /** The caller, behind a guard with `accept`. */
    idpAuth?: Auth
    /** Method before middleware overrode it (`method-override`), which the sender of any form can cause. */
    readonly originalMethod?: string
    /** URL before a router removed its prefix (Express, Connect). */
    readonly originalUrl?: string
    /** The removed prefix, or the whole path if a pattern matched (`*`). */
    readonly baseUrl?: string
    /** Result of a body parser. */
    readonly body?: unknown
    /** The request of Node that a framework's own wraps (Koa), with the body and all headers. */
    readonly req?: Partial<NodeStream>
  }

/** The used part of the stream of a request. */
export type NodeStream = Pick<IncomingMessage, 'iterator' | 'rawHeaders' | 'readableDidRead'> & {
  /** Reads the rest, for nobody. */
  resume(): unknown
  /** The stream of HTTP/2. */
  readonly stream?: {
    readonly destroyed: boolean
    /** Whether the request ended with its headers. */
    readonly endAfterHeaders: boolean
    once(event: 'close', listener: () => void): unknown
  }
}

/** Reads the headers of a Node request, whose names are in lower case, without a copy. */
class NodeHeaders implements RequestHeaders {
  readonly #headers: NodeRequest['headers']
  readonly #raw: readonly string[] | undefined

  constructor({ headers, req, rawHeaders = req?.rawHeaders }: NodeRequest) {
    this.#headers = headers
    this.#raw = rawHeaders
  }

  /** Returns all credentials of a request as one list: Node.js drops all but the first header. */
  #authorization(): string | null {
    const raw = this.#raw ?? []
    const values = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'authorization')
    return values.length > 1 ? values.join(', ') : null
  }

  get(name: string): string | null {
    const key = name.toLowerCase()
    const several = key === 'authorization' ? this.#authorization() : null
    if (several !== null) return several
    const value = Object.hasOwn(this.#headers, key) ? this.#headers[key] : undefined
    // HTTP/2 has a pseudo-header instead of `Host`.
    if (value === undefined) return key === 'host' ? this.get(':authority') : null
    return Array.isArray(value) ? value.join(key === 'cookie' ? '; ' : ', ') : String(value)
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }
}

/*
 * Placeholder if the request has no usable host: parses as a URL, but is rejected wherever the base URL is taken from
 * the request.
 */
const NO_HOST = 'unknown!'

function toUrl(request: NodeRequest, host: string | null): URL {
  const scheme = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
  const path = toPath(requestTarget(request))
  const url = `${scheme}://${host}${path}`
  // Reject what the URL parser would read as more than a host (a user name, a path).
  const isHost = host !== null && /^[\w.:[\]-]+$/.test(host)
  return (isHost && parseUrl(url)) || new URL(`${scheme}://${NO_HOST}${path}`)
}

/** Returns path and query of a request target; removes the origin of the absolute form (RFC 9112 section 3.2.2). */
function toPath(target: string): string {
  if (target.startsWith('/')) return target
  const { pathname = '', search = '' } = parseUrl(target) ?? {}
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
  /** The kind of body that a body parser is for, for errors. */
  readonly name: string
}

/** Returns the body from the result of a body parser, or `null` without one. */
function parsedBody<T>(body: unknown, { fromObject, fromString }: BodyKind<T>): T | null {
  if (body instanceof Uint8Array) return fromString(text(body))
  if (typeof body === 'string') return fromString(body)
  return typeof body === 'object' && body !== null ? fromObject(body) : null
}

async function readBody<T>(request: NodeRequest, kind: BodyKind<T>): Promise<T> {
  const { body, req: stream = request } = request
  const { readableDidRead } = stream
  // A parser that did not handle the content type may set an empty object and leave the stream unread.
  if (readableDidRead || !isEmptyObject(body)) {
    const parsed = parsedBody(body, kind)
    if (parsed) return parsed
  }
  if (readableDidRead) {
    const detail = `The body was read before, and is not the "body" of the request. Use a body parser for ${kind.name}, or mount the middleware first: ${openMountLine(request)}`
    throw new IdpError('INVALID_REQUEST', { detail })
  }
  // An abandoned stream must not destroy the connection, or the response would never arrive.
  const chunks = stream.iterator?.({ destroyOnReturn: false })
  const reading = readText(chunks ? { [Symbol.asyncIterator]: () => chunks } : null)
  // Reads the rest, too, if the body is too large: until then Node.js serves no further request of the connection.
  return kind.fromString(await reading.finally(() => stream.resume?.()))
}

function readForm(request: NodeRequest, contentType: string | null): Promise<URLSearchParams> {
  const fromString = (body: string): URLSearchParams => parseForm(contentType, body)
  const fromObject = (fields: object): URLSearchParams => fromString(toForm(fields).toString())
  return readBody(request, { fromString, fromObject, name: 'forms' })
}

function readJson(request: NodeRequest, contentType: string | null): Promise<JsonBody> {
  return readBody(request, {
    fromString: (body) => parseJson(contentType, body),
    fromObject: (value) => jsonBody(contentType, value),
    name: 'JSON',
  })
}

/**
 * Returns the chunks of a body as they are read.
 *
 * @param discard reads the rest that nobody wants: Node.js does so only if nothing was read, and serves no further request of the
 * connection before
 */
function toStream(chunks: AsyncIterator<Uint8Array>, discard: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        chunks.return?.().then(discard, () => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns whether a request has a body; HTTP/2 needs no header for one. */
function hasContent({ stream }: Partial<NodeStream>, headers: RequestHeaders): boolean {
  if (stream) return !stream.endAfterHeaders
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0
}

type Connection = Partial<NonNullable<NodeStream['stream']>>

const closeListeners = new WeakMap<Connection, Set<() => void>>()

/**
 * Calls a function when a connection closes. Returns a function that removes it. One listener serves all requests of the connection: a
 * client may send many before it gets the first response, and Node.js warns of more than ten listeners.
 */
function onClose(connection: Connection, listener: () => void): () => void {
  const listeners = closeListeners.get(connection) ?? new Set()
  if (!closeListeners.has(connection)) {
    closeListeners.set(connection, listeners)
    connection.once?.('close', () => {
      for (const leave of listeners) leave()
    })
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function toTransfer(request: NodeRequest, headers: RequestHeaders): Transfer {
  const { req = request, socket } = request
  const hasBody = hasContent(req, headers)
  if (hasBody && req.readableDidRead) throw new IdpError('PROXY_BODY_CONSUMED')
  // A rest that is not read must not destroy the connection, or the response would never arrive.
  const chunks = hasBody ? req.iterator?.({ destroyOnReturn: false }) : undefined
  // Requests of HTTP/2 share a socket. That of AWS Lambda has no events: its adapters pass on whole requests.
  const connection: Connection = req.stream ?? socket
  return {
    body: chunks ? toStream(chunks, () => req.resume?.()) : null,
    onLeave(listener) {
      if (connection.destroyed) listener()
      return onClose(connection, listener)
    },
  }
}

/** Returns the request target as the browser sent it. */
export function requestTarget({ originalUrl, url = '/' }: NodeRequest): string {
  return originalUrl ?? url
}

/* A class, since V8 creates a hidden class for every object literal with a getter. */
class NodeRequestView implements RequestView {
  readonly headers: RequestHeaders
  readonly method: string
  readonly form: () => Promise<URLSearchParams>
  readonly json: () => Promise<JsonBody>
  private readonly request: NodeRequest
  private parsed: URL | undefined

  constructor(request: NodeRequest) {
    const headers = new NodeHeaders(request)
    this.headers = headers
    this.method = request.originalMethod ?? request.method ?? 'GET'
    this.form = lazy(() => readForm(request, headers.get('content-type')))
    this.json = lazy(() => readJson(request, headers.get('content-type')))
    this.request = request
  }

  /** Read anew, since middleware may override the method after that of this client. */
  get routedMethod(): string | undefined {
    return this.request.method
  }

  get url(): URL {
    this.parsed ??= toUrl(this.request, this.headers.get('host'))
    return this.parsed
  }

  get target(): string {
    return requestTarget(this.request)
  }

  transfer(): Transfer {
    return toTransfer(this.request, this.headers)
  }
}

/** Converts a Node request for the operations. Never throws, regardless of the request's content. */
export function toRequestView(request: NodeRequest): RequestView {
  return new NodeRequestView(request)
}

/** The path below the prefix that a router has removed, and the prefix, if the path ends with the rest. */
type Place = Pick<RequestView, 'path' | 'prefix'>

/**
 * Returns where a router that has removed a prefix sees the request, or `undefined` if none has. A pattern that matches
 * every path (`app.use('*', ...)`, `forRoutes('*')` of NestJS) removes the whole path, which is not a prefix.
 */
export function placeBelowPrefix({ baseUrl, originalUrl, url }: NodeRequest): Place | undefined {
  if (originalUrl === undefined || url === undefined || originalUrl === url) return undefined
  const path = toPathname(url)
  const [sent = ''] = toPath(originalUrl).split('?', 1)
  if (path === '/' && sent.replace(/\/$/, '') === baseUrl) return undefined
  const whole = toPathname(originalUrl)
  const prefix = path !== '/' && whole.endsWith(path) ? whole.slice(0, -path.length) : ''
  return prefix === '' ? { path } : { path, prefix }
}
