import { IdpError } from '../../errors/base.ts'
import type { CookieJar, StagedCookie } from '../../http/cookie-jar.ts'
import { flushToHeaders, parseCookies } from '../../http/cookie-text.ts'
import type { Binding, Exchange, RequestView } from '../../http/exchange.ts'
import { requestCookies } from '../../http/exchange.ts'
import { readChunks, readForm } from '../../http/form.ts'
import type { RequestState } from '../../http/host-state.ts'
import { hasResponded, requestState } from '../../http/host-state.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { readJson } from '../../http/json-body.ts'
import { noStore } from '../../http/responses.ts'

/** Reads a clone, so that the application can still read the body. The line that mounts the middleware is for errors. */
function readClonedChunks(request: Request, mount: string): AsyncIterable<Uint8Array> | null {
  if (request.bodyUsed || request.body?.locked) {
    const detail = `The body was read before. Mount the middleware first: ${mount}`
    throw new IdpError('INVALID_REQUEST', { detail })
  }
  const { body } = request.clone()
  return body && readChunks(body)
}

/** The line that mounts the middleware, of hosts without another one. */
export const WEB_MOUNT = 'idp.middleware(request, next)'

/** The view of a Web request. URL and body are read at their first use: most requests need neither. */
export class WebRequestView implements RequestView {
  readonly headers: Headers
  readonly method: string
  readonly #request: Request
  readonly #mount: string
  #url: URL | undefined

  /** @param mount the line that mounts the middleware, for errors. */
  constructor(request: Request, mount: string = WEB_MOUNT) {
    this.headers = request.headers
    this.method = request.method
    this.#request = request
    this.#mount = mount
  }

  get url(): URL {
    this.#url ??= new URL(this.#request.url)
    return this.#url
  }

  async form(): Promise<URLSearchParams> {
    return readForm(this.headers.get('content-type'), readClonedChunks(this.#request, this.#mount))
  }

  async json(): Promise<JsonBody> {
    return readJson(this.headers.get('content-type'), readClonedChunks(this.#request, this.#mount))
  }
}

type ToView = (request: Request) => RequestView

function getState(request: Request, toView: ToView): RequestState {
  return requestState(request, () => {
    const view = toView(request)
    const { cookies, slots } = requestCookies(() => parseCookies(view.headers.get('cookie')))
    return { request: view, cookies, slots }
  })
}

const toWebView: ToView = (request) => new WebRequestView(request)

/** Target of cookies: a response that the application is going to send, or its headers. */
export type WebTarget = Response | Headers

/**
 * Writes staged cookies to a response, except `older` ones of which it has newer values. A response with one of our cookies
 * is never cacheable.
 */
export function flushOnto(cookies: CookieJar, headers: Headers, older?: readonly StagedCookie[]): void {
  if (!cookies.isPending) return
  flushToHeaders(cookies, headers, older)
  noStore(headers)
}

/** Returns the exchange of a Web request. All exchanges of one request share its cookies. */
export function toExchange(request: Request, canWrite: boolean, toView: ToView = toWebView): Exchange {
  const { cookies, request: view, slots } = getState(request, toView)
  return { request: view, cookies, slots, canWrite: () => canWrite }
}

/**
 * Binds a Web request, and the response for its cookies, if there is one.
 *
 * @param shared the exchange of the middleware that serves the request; default: one that shares the request's cookies.
 */
export function bindRequest(
  request: Request,
  target?: WebTarget,
  shared: Exchange = toExchange(request, true),
): Binding {
  const headers = target instanceof Headers ? target : target?.headers
  const exchange = {
    ...shared,
    canWrite: () => headers !== undefined && !hasResponded(request),
  }
  return {
    exchange,
    commit() {
      if (headers) flushOnto(exchange.cookies, headers)
      return !exchange.cookies.isPending
    },
  }
}

export interface DeferredBinding extends Binding {
  /** Makes the request read-only: its response has left. */
  close(): void
}

/** Binds a request whose cookies are written when its response leaves, by the middleware that returns the response. */
export function bindDeferred(request: Request, view: RequestView): DeferredBinding {
  let isOpen = true
  const shared = toExchange(request, true, () => view)
  const exchange = { ...shared, request: view, canWrite: () => isOpen }
  return {
    exchange,
    commit: () => isOpen || !exchange.cookies.isPending,
    close() {
      isOpen = false
    },
  }
}
