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

async function respond(
  application: Application,
  exchange: Exchange,
  hostRequest: unknown,
): Promise<Response> {
  markReached()
  const response = await sharing(exchange, () => dispatch(application, exchange, hostRequest))
  return response ?? empty(404)
}

/**
 * Exports every method, because Next.js otherwise responds to HEAD and OPTIONS itself; the routes reject wrong methods.
 */
export function everyMethod(handle: (request: Request) => Promise<Response>): AppHandlers {
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

export function appHandlers(application: Application): AppHandlers {
  return everyMethod(async (request) => {
    const exchange = toExchange(request, true)
    return withStagedCookies(await respond(application, exchange, request), request, exchange.cookies)
  })
}

/** Next.js has already removed base path and locale from `req.url` of an API route. */
export function toPath({ url = '/' }: NextApiRequest): string {
  return url.split(/[?#]/, 1)[0] ?? '/'
}

export async function handlePagesApi(
  application: Application,
  request: NextApiRequest,
  response: NextApiResponse,
): Promise<void> {
  const binding = bindNode(request, response, toPath(request))
  const result = await respond(application, binding.exchange, request)
  await binding.commit()
  await sendResponse(response, result)
}
