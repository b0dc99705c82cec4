import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import type { Auth } from '../../guards/auth.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import { NodeClient } from '../node/node-client.ts'

declare global {
  // biome-ignore lint/style/noNamespace: the types of Express declare it, so that other packages can extend its request.
  namespace Express {
    interface Request {
      /** The caller, behind a guard with `accept`; absent elsewhere. */
      idpAuth?: Auth
    }
  }
}

/** Request type of this entry: Express's. */
export type FrameworkRequest = ExpressRequest
/** Response type of this entry: Express's. */
export type FrameworkResponse = ExpressResponse

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/**
 * OpenID Connect for Express 4 and 5. Construct it once per process; it holds no state of any user. Mount `middleware`
 * before the routes: inside it, and behind a guard, operations need no arguments. Elsewhere they need `req`, and `res`
 * where a cookie may be written (`AMBIENT_REQUEST_MISSING` otherwise).
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * app.use(idp.middleware)
 * app.get('/account', idp.withPageAuthRequired(), async (req, res) => {
 *   const session = await idp.getSession()
 *   res.json(session?.user)
 * })
 */
export class IdpClient extends NodeClient<FrameworkRequest, FrameworkResponse> {}
