import type { FetchFunction } from '../lib/fetch-function.ts'
import type { Repetition } from './repeatable-body.ts'
import { toRepetition } from './repeatable-body.ts'

/** A prepared API request without its authorization headers. */
export interface ApiCall {
  readonly method: string
  readonly url: URL
  readonly signal: AbortSignal | undefined
  /**
   * Sends the request; `headers` replace those of the same name. Pass `init` of a `Repetition` to repeat the request, and
   * `certificateFetch` to send it by that one: with an address and options, since a `Request` is not that of every implementation.
   */
  send(
    headers: Readonly<Record<string, string>>,
    init?: RequestInit,
    certificateFetch?: FetchFunction,
  ): Promise<Response>
  /** Prepares a repetition; must be called before the first `send`. */
  prepareRepetition(): Repetition
}

/**
 * Frees the connection without reading the body. Not awaited: one half of a response that a host shares
 * between callers is cancelled only when the other half is.
 */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined)
}

/** Parts of `RequestInit` and `Request`; the former takes precedence, as in `fetch`. */
interface Parts {
  readonly input: string | URL | Request
  readonly init: RequestInit
  /** Default: the global `fetch`. */
  readonly fetch: FetchFunction | undefined
  /** Resolves the URL; throws if the token must not be sent there. */
  readonly resolve: (address: string) => URL
}

/** Normalizes the method like `fetch` (Fetch standard, 4.2.1): a proof must name the method that is sent. */
function normalized(method: string): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

/**
 * Returns whether the input is a `Request` of any realm. Its URL is not read here: a getter may return another one the
 * next time.
 */
function isRequest(input: Parts['input']): input is Request {
  return typeof input === 'object' && 'headers' in input
}

/**
 * Returns the URL that `fetch` takes from a `Request`, regardless of a subclass, or `null` for a request of another
 * realm.
 */
function internalUrl(request: Request): string | null {
  try {
    return String(Reflect.get(Request.prototype, 'url', request))
  } catch {
    return null
  }
}

/** Converts a request of another realm to options for `fetch`. */
function toInit({ body, headers, method, signal }: Request): RequestInit {
  return { method, headers, signal, ...(body ? { body, duplex: 'half' } : {}) }
}

/**
 * Returns a form as bytes with their type. A `fetch` that the application has installed, such as that of `undici`, takes only its own
 * `FormData` for a form.
 */
async function encoded({ body }: RequestInit, headers: Headers): Promise<RequestInit> {
  if (!(body instanceof FormData)) return {}
  const form = new Response(body)
  const type = form.headers.get('content-type')
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type)
  return { body: await form.arrayBuffer() }
}

/** Prepares an API request. The checked URL is the one that is sent: the URL of a `Request` is read only once. */
export function apiCall({ fetch: customFetch, init, input, resolve }: Parts): ApiCall {
  const request = isRequest(input) ? input : null
  const own = request && internalUrl(request)
  const url = resolve(own ?? (request ? request.url : String(input)))
  const target = request && own !== null ? request : url.href
  const foreign = request && own === null ? toInit(request) : {}
  const redirect = (init.redirect ?? request?.redirect) === 'error' ? 'error' : 'manual'
  return {
    method: normalized(init.method ?? request?.method ?? 'GET'),
    url,
    signal: init.signal ?? request?.signal,
    async send(authorization, sendInit = init, certificateFetch = undefined) {
      const headers = new Headers(init.headers ?? request?.headers)
      for (const name of ['authorization', 'dpop']) headers.delete(name)
      for (const [name, value] of Object.entries(authorization)) headers.set(name, value)
      if (certificateFetch)
        return certificateFetch(url.href, {
          ...(request ? toInit(request) : {}),
          ...sendInit,
          ...(await encoded(sendInit, headers)),
          headers,
          redirect,
        })
      // Called unbound: some runtimes reject a fetch whose `this` is another object.
      const fetch = customFetch ?? globalThis.fetch
      return fetch(target, { ...foreign, ...sendInit, headers, redirect })
    },
    prepareRepetition: () => toRepetition(request, init),
  }
}
