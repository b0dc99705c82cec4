import type { Repetition } from './repeatable-body.ts'
import { toRepetition } from './repeatable-body.ts'

/** One call to an API, everything decided but how the token is shown. */
export interface ApiCall {
  readonly method: string
  readonly url: URL
  readonly signal: AbortSignal | undefined
  /** Sends it; `headers` replace those of the same name. `init`: what a repetition gave. */
  send(headers: Readonly<Record<string, string>>, init?: RequestInit): Promise<Response>
  /** Asked before the first `send`, so that a second one finds the body. */
  prepareRepetition(): Repetition
}

/** Of `RequestInit` and `Request`, whichever says something; the former wins, as it does in `fetch`. */
interface Parts {
  readonly input: string | URL | Request
  readonly init: RequestInit
  /** Absent: the global one. */
  readonly fetch: typeof globalThis.fetch | undefined
  /** The address to send to; throws what keeps the token from it. */
  readonly resolve: (address: string) => URL
}

/** Headers that show a token; whatever a caller put there is not the token of this call. */
const owned = ['authorization', 'dpop'] as const

/** As `fetch` writes it (Fetch standard, 4.2.1): a proof must name what goes over the wire. */
function normalized(method: string): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

/** Of any platform. Its URL is not looked at: a request may have another one the next time. */
function isRequest(input: Parts['input']): input is Request {
  return typeof input === 'object' && 'headers' in input
}

/** The URL that `fetch` takes from a `Request`, whatever a subclass returns; null for a request of another platform. */
function internalUrl(request: Request): string | null {
  try {
    return String(Reflect.get(Request.prototype, 'url', request))
  } catch {
    return null
  }
}

/** A request of another platform as `fetch` takes it beside a URL. */
function toInit({ body, headers, method, signal }: Request): RequestInit {
  return { method, headers, signal, ...(body ? { body, duplex: 'half' } : {}) }
}

/** The URL that was checked is the one that is sent: a `Request` says its URL only once. */
export function apiCall({ fetch: given, init, input, resolve }: Parts): ApiCall {
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
    async send(shown, sent = init) {
      const headers = new Headers(init.headers ?? request?.headers)
      for (const name of owned) headers.delete(name)
      for (const [name, value] of Object.entries(shown)) headers.set(name, value)
      // Called unbound: some runtimes refuse a fetch whose `this` is another object.
      const fetch = given ?? globalThis.fetch
      return fetch(target, { ...foreign, ...sent, headers, redirect })
    },
    prepareRepetition: () => toRepetition(request, init),
  }
}
