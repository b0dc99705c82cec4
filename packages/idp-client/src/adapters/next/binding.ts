import type { Binding } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { bindNode } from '../node/binding.ts'
import type { WebTarget } from '../web/binding.ts'
import { bindAmbient } from './ambient.ts'
import { bindWeb, isWebRequest } from './web.ts'

/** A request of Next.js: `NextRequest` or `Request`, or `req` of the Pages Router. */
export type HostRequest = Request | NodeRequest

/** Target of cookies: a response or its headers, or `res` of the Pages Router. */
export type HostResponse = Response | Headers | NodeResponse

/** Binds a request of any kind; without one, the request that Next.js is handling. */
export function bind(request?: HostRequest, response?: HostResponse): MaybePromise<Binding> {
  if (request === undefined) return bindAmbient()
  if (isWebRequest(request)) return bindWeb(request, response as WebTarget | undefined)
  return bindNode(request, response as NodeResponse | undefined)
}
