import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { NodeRequest, NodeResponse } from './binding.ts'
import { NodeClient } from './node-client.ts'

/** Request type of this entry: `IncomingMessage` of `node:http`, or of a framework that extends it. */
export type FrameworkRequest = NodeRequest
/** Response type of this entry: `ServerResponse` of `node:http`, or of a framework that extends it. */
export type FrameworkResponse = NodeResponse

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/**
 * OpenID Connect for servers of `node:http` and for Connect. Construct it once per process; it holds no state of any user.
 * Inside `middleware`, and behind a guard, operations need no arguments. Elsewhere they need `req`, and `res` where a
 * cookie may be written (`AMBIENT_REQUEST_MISSING` otherwise).
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * createServer(async (req, res) => {
 *   try {
 *     await idp.middleware(req, res, async () => {
 *       const session = await idp.getSession()
 *       res.end(session ? 'signed in' : 'signed out')
 *     })
 *   } catch (error) {
 *     // A rejection that nobody handles would end the process.
 *     console.error(error)
 *     if (!res.headersSent) res.writeHead(500)
 *     res.end()
 *   }
 * })
 */
export class IdpClient extends NodeClient<FrameworkRequest, FrameworkResponse> {}
