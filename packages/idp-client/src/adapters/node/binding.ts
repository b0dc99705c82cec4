import type { Binding } from '../../binding.ts'
import { parseCookies } from '../../http/cookie-text.ts'
import { requestCookies } from '../../http/exchange.ts'
import { requestState } from '../../http/host-state.ts'
import type { NodeRequest } from './request.ts'
import { mountedPath, mountPoint, toRequestView } from './request.ts'
import type { NodeResponse } from './response.ts'
import { responseSink } from './response.ts'

export type { NodeRequest } from './request.ts'
export type { NodeResponse } from './response.ts'

/**
 * Binds a request of `node:http` or of a framework based on it, and the response for its cookies, if there is one. Each
 * part of a request is read once, regardless of how often it is bound.
 *
 * @param givenPath path of the request without the prefixes that the host manages; default: the path below the prefix
 * that a router removed (`app.use('/prefix', ...)`).
 */
export function bindNode(request: NodeRequest, response?: NodeResponse, givenPath?: string): Binding {
  const path = givenPath ?? mountedPath(request)
  const mount = givenPath === undefined ? mountPoint(request) : undefined
  const place = { ...(path === undefined ? {} : { path }), ...(mount === undefined ? {} : { mount }) }
  const state = requestState(request, () => {
    const view = toRequestView(request)
    return { request: view, ...requestCookies(() => parseCookies(view.headers.get('cookie'))) }
  })
  const canWrite = (): boolean => response !== undefined && !response.headersSent && !response.destroyed
  return {
    exchange: {
      ...state,
      request: path === undefined ? state.request : { ...state.request, ...place },
      canWrite,
    },
    commit() {
      if (response && canWrite()) state.cookies.flush(responseSink(response))
      return !state.cookies.isPending
    },
  }
}
