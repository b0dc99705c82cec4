import type { NextApiRequest, NextApiResponse } from 'next'
import type { Application } from '../../engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import { empty } from '../../http/responses.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { bindNode } from '../node/binding.ts'
import { sendResponse } from '../node/send.ts'
import { sharing } from './ambient.ts'
import { markReached } from './mount-check.ts'
import { toExchange, withStagedCookies } from './web.ts'

export type AppHandlers = Readonly<
  Record<
    'GET' | 'POST' | 'HEAD' | 'OPTIONS' | 'PUT' | 'PATCH' | 'DELETE',
    (request: Request) => Promise<Response>
  >
>

/** Responds to a request; `hostRequest` is the one of Next.js. */
type Respond = (exchange: Exchange, hostRequest: object) => Promise<Response>

/** Returns what responds to requests for the auth routes, and to any other one with 404. */
export function respondByRoute(application: Application): Respond {
  return async (exchange, hostRequest) => {
    markReached()
    const response = await sharing(exchange, () => dispatch(application, exchange, hostRequest))
    return response ?? empty(404)
  }
}

/**
 * Exports every method, because Next.js otherwise responds to HEAD and OPTIONS itself; the routes reject wrong methods.
 */
export function appHandlers(respond: Respond): AppHandlers {
  const handle = async (request: Request): Promise<Response> => {
    const exchange = toExchange(request, true)
    return withStagedCookies(await respond(exchange, request), request, exchange.cookies)
  }
  return {
    GET: handle,
    POST: handle,
    HEAD: handle,
    OPTIONS: handle,
    PUT: handle,
    PATCH: handle,
    DELETE: handle,
  }
}

/** Returns the handler of an API route of the Pages Router. */
export function pagesHandler(
  respond: Respond,
): (request: NextApiRequest, response: NextApiResponse) => Promise<void> {
  return async (request, response) => {
    // Next.js has already removed base path and locale from the URL.
    const [path] = (request.url ?? '/').split(/[?#]/, 1)
    const binding = bindNode(request, response, path)
    const result = await respond(binding.exchange, request)
    await binding.commit()
    await sendResponse(response, result)
  }
}
