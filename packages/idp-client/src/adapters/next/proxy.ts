import type { NextApiRequest, NextApiResponse } from 'next'
import type { Application } from '../../engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { empty } from '../../http/responses.ts'
import type { ProxyOptions } from '../../proxy/options.ts'
import { ApiProxy } from '../../proxy/proxy.ts'
import type { HostRequest, HostResponse } from './binding.ts'
import type { AppHandlers } from './handlers.ts'
import { appHandlers, pagesHandler } from './handlers.ts'
import { respondWith } from './respond.ts'

const ELSEWHERE =
  'A route with the handlers of idp.proxy got a request that is not below its prefix, and responded 404: put the file at the path of the prefix, such as app/api/orders/[[...path]]/route.ts.'

/**
 * An API to which requests of the application's pages are sent on. With Next.js a route serves it, not the proxy (middleware), which
 * reads bodies before it passes them on, and only 10 MB of them.
 */
export class NextApiProxy extends ApiProxy<HostRequest, HostResponse> {
  /**
   * The handlers of a route of the App Router.
   *
   * @example
   * // app/api/orders/[[...path]]/route.ts
   * export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = orders.handlers
   */
  readonly handlers: AppHandlers

  /** @internal */
  constructor(application: Application, options: ProxyOptions) {
    super(application, options, respondWith)
    const respondTo = async (exchange: Exchange): Promise<Response> => {
      if (this.covers(exchange.request)) return this.respond(exchange)
      application.settings.log.once(ELSEWHERE)
      return empty(404)
    }
    this.handlers = appHandlers(respondTo)
    this.pagesHandler = pagesHandler(respondTo)
  }

  /**
   * The handler of an API route of the Pages Router, whose body parser must be off.
   *
   * @example
   * // pages/api/orders/[[...path]].ts
   * export default orders.pagesHandler
   * export const config = { api: { bodyParser: false, externalResolver: true } }
   */
  readonly pagesHandler: (request: NextApiRequest, response: NextApiResponse) => Promise<void>
}
