import type { Binding } from '../../binding.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { bindNode } from '../node/binding.ts'
import type { WebTarget } from '../web/binding.ts'
import { bindAmbient } from './ambient.ts'
import { bindWeb, isWebRequest } from './web.ts'

/** A request as some part of Next hands it out: `NextRequest` or `Request`, or `req` of the Pages Router. */
export type HostRequest = Request | NodeRequest

/** The target of cookies: a response or its headers, or `res` of the Pages Router. */
export type HostResponse = Response | Headers | NodeResponse

/** Binds a request in the style that it was given in; without one, the request that Next is handling right now. */
export async function bind(request?: HostRequest, response?: HostResponse): Promise<Binding> {
  if (request === undefined) return bindAmbient()
  if (isWebRequest(request)) return bindWeb(request, response as WebTarget | undefined)
  return bindNode(request, response as NodeResponse | undefined)
}
