import type { Binding } from '../../http/exchange.ts'
import { requestState } from '../../http/host-state.ts'
import type { NodeRequest } from './request.ts'
import { placeBelowPrefix, toRequestView } from './request.ts'
import type { NodeResponse } from './response.ts'
import { forbidStoring, isGone, responseSink } from './response.ts'

export type { NodeRequest, NodeStream } from './request.ts'
export type { NodeResponse } from './response.ts'

/**
 * Binds a request of `node:http` or of a framework based on it, and the response for its cookies, if there is one. Each
 * part of a request is read once, regardless of how often it is bound.
 *
 * @param ownPath path of the request without the prefixes that the host manages; default: the path below the prefix that a
 * router removed (`app.use('/prefix', ...)`).
 */
export function bindNode(request: NodeRequest, response?: NodeResponse, ownPath?: string): Binding {
  const place = ownPath === undefined ? placeBelowPrefix(request) : { path: ownPath }
  const { cookies, request: view, slots } = requestState(request, () => toRequestView(request))
  const canWrite = (): boolean => response !== undefined && !response.headersSent && !isGone(response)
  return {
    exchange: {
      // The URL is created when it is first read, so the view is not copied.
      request: place ? Object.assign(Object.create(view), place) : view,
      cookies,
      slots,
      canWrite,
    },
    commit() {
      if (response && canWrite()) cookies.flush(responseSink(response, cookies))
      return !cookies.isPending
    },
    forbidStoring() {
      if (response) forbidStoring(response)
    },
  }
}
