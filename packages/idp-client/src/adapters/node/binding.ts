import type { Binding } from '../../binding.ts'
import { parseCookies } from '../../http/cookie-text.ts'
import { requestCookies } from '../../http/exchange.ts'
import { requestState } from '../../http/request-state.ts'
import type { NodeRequest } from './request.ts'
import { mountedPath, mountPoint, toRequestView } from './request.ts'
import type { NodeResponse } from './response.ts'
import { responseSink } from './response.ts'

export type { NodeRequest } from './request.ts'
export type { NodeResponse } from './response.ts'

/**
 * Binds a request of `node:http`, or of a framework on top of it, and the response that its cookies go to, when there
 * is one. What is read of a request is read once, however often it is bound.
 *
 * @param given path of the request without the prefixes that the host manages; default: what the router left of it,
 * where it has removed its own prefix (`app.use('/prefix', ...)`).
 */
export function bindNode(request: NodeRequest, response?: NodeResponse, given?: string): Binding {
  const path = given ?? mountedPath(request)
  const mount = given === undefined ? mountPoint(request) : undefined
  const place = { ...(path === undefined ? {} : { path }), ...(mount === undefined ? {} : { mount }) }
  const state = requestState(request, () => {
    const view = toRequestView(request)
    return { request: view, ...requestCookies(parseCookies(view.headers.get('cookie'))) }
  })
  const canWrite = (): boolean => response !== undefined && !response.headersSent && !response.destroyed
  return {
    exchange: {
      ...state,
      request: path === undefined ? state.request : { ...state.request, ...place },
      canWrite,
    },
    async commit() {
      if (response && canWrite()) state.cookies.flush(responseSink(response))
      return state.cookies.pending().length === 0
    },
  }
}
