import { IdpError } from '../../errors/base.ts'
import type { JsonBody } from '../../http/body.ts'
import { parseForm, parseJson, readChunks, readText } from '../../http/body.ts'
import type { CookieJar, StagedCookie } from '../../http/cookie-jar.ts'
import { flushToHeaders } from '../../http/cookie-text.ts'
import type { Binding, Exchange, RequestView, Transfer } from '../../http/exchange.ts'
import { hasResponded, openMountLine, requestState } from '../../http/host-state.ts'
import { noStore } from '../../http/responses.ts'

/** The view of a Web request. URL and body are read at their first use: most requests need neither. */
export class WebRequestView implements RequestView {
  readonly headers: Headers
  readonly method: string
  readonly #request: Request
  #url: URL | undefined

  constructor(request: Request) {
    this.headers = request.headers
    this.method = request.method
    this.#request = request
  }

  get url(): URL {
    this.#url ??= new URL(this.#request.url)
    return this.#url
  }

  /** Reads the body of a clone, so that the application can still read it. */
  protected async body(): Promise<string> {
    const request = this.#request
    if (request.bodyUsed || request.body?.locked) {
      const detail = `The body was read before. Mount the middleware first: ${openMountLine(request)}`
      throw new IdpError('INVALID_REQUEST', { detail })
    }
    const { body } = request.clone()
    return readText(body && readChunks(body))
  }

  async form(): Promise<URLSearchParams> {
    return parseForm(this.headers.get('content-type'), await this.body())
  }

  async json(): Promise<JsonBody> {
    return parseJson(this.headers.get('content-type'), await this.body())
  }

  transfer(): Transfer {
    const request = this.#request
    if (request.bodyUsed || request.body?.locked) throw new IdpError('PROXY_BODY_CONSUMED')
    return {
      body: request.body,
      onLeave(listener) {
        const { signal } = request
        if (signal?.aborted) listener()
        signal?.addEventListener('abort', listener)
        return () => signal?.removeEventListener('abort', listener)
      },
    }
  }
}

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
export function toExchange(
  request: Request,
  canWrite: () => boolean,
  createView = (): RequestView => new WebRequestView(request),
): Exchange {
  const { cookies, request: view, slots } = requestState(request, createView)
  return { request: view, cookies, slots, canWrite }
}

/**
 * Binds a Web request, and the response for its cookies, if there is one.
 *
 * @param shared the exchange of the middleware that serves the request; default: one that shares the request's cookies.
 */
export function bindRequest(request: Request, target?: WebTarget, shared?: Exchange): Binding {
  const headers = target instanceof Headers ? target : target?.headers
  const canWrite = (): boolean => headers !== undefined && !hasResponded(request)
  const exchange = shared ? { ...shared, canWrite } : toExchange(request, canWrite)
  return {
    exchange,
    commit() {
      if (headers) flushOnto(exchange.cookies, headers)
      return !exchange.cookies.isPending
    },
  }
}

export interface DeferredBinding extends Binding {
  /** Returns whether the response is for a signed-in user. */
  isPrivate(): boolean
  /** Makes the request read-only: its response has left. */
  close(): void
}

/** Binds a request whose cookies are written when its response leaves, by the middleware that returns the response. */
export function bindDeferred(request: Request, view: RequestView): DeferredBinding {
  let isOpen = true
  let isPrivate = false
  const exchange = {
    ...toExchange(
      request,
      () => isOpen,
      () => view,
    ),
    request: view,
  }
  return {
    exchange,
    commit: () => isOpen || !exchange.cookies.isPending,
    forbidStoring() {
      isPrivate = true
    },
    isPrivate: () => isPrivate,
    close() {
      isOpen = false
    },
  }
}
