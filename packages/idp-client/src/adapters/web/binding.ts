import type { Binding } from '../../binding.ts'
import type { CookieJar } from '../../http/cookie-jar.ts'
import { headersSink, parseCookies } from '../../http/cookie-text.ts'
import { requestCookies } from '../../http/exchange.ts'
import { readChunks, readForm } from '../../http/form.ts'
import { readJson } from '../../http/json-body.ts'
import type { RequestState } from '../../http/request-state.ts'
import { requestState } from '../../http/request-state.ts'
import { noStore } from '../../http/responses.ts'

/** Reads a clone, so that the application can still read the body. */
function readClonedChunks(request: Request): AsyncIterable<Uint8Array> | null {
  const { body } = request.clone()
  return body && readChunks(body)
}

function getState(request: Request): RequestState {
  return requestState(request, () => ({
    request: {
      headers: request.headers,
      method: request.method,
      url: new URL(request.url),
      form: () => readForm(request.headers.get('content-type'), readClonedChunks(request)),
      json: () => readJson(request.headers.get('content-type'), readClonedChunks(request)),
    },
    ...requestCookies(parseCookies(request.headers.get('cookie'))),
  }))
}

/** Target of cookies: a response that the application is going to send, or its headers. */
export type WebTarget = Response | Headers

/** Writes staged cookies to a response; a response with one of our cookies is never cacheable. */
export function flushOnto(cookies: CookieJar, headers: Headers): void {
  if (cookies.pending().length === 0) return
  cookies.flush(headersSink(headers))
  noStore(headers)
}

/** Binds a Web request, and the response for its cookies, if there is one. */
export function bindRequest(request: Request, target?: WebTarget): Binding {
  const state = getState(request)
  const headers = target instanceof Headers ? target : target?.headers
  return {
    exchange: { ...state, canWrite: () => headers !== undefined },
    async commit() {
      if (headers) flushOnto(state.cookies, headers)
      return state.cookies.pending().length === 0
    },
  }
}

/** Binds a request whose cookies are written later: `middleware(request, next)` adds them to the response of `next`. */
export function bindDeferred(request: Request): Binding {
  return { exchange: { ...getState(request), canWrite: () => true }, commit: async () => true }
}
