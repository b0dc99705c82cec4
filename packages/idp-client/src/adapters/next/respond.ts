import { NextResponse } from 'next/server.js'
import type { Exchange } from '../../http/exchange.ts'
import { within } from '../../http/exchange.ts'
import { noStore } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import type { HostRequest, HostResponse } from './binding.ts'
import { bind } from './binding.ts'

/**
 * Returns the response of an operation with its cookies. The host gets the cookies too, if it accepts any: a Server
 * Action cannot return a response, and of the Pages Router only `res` is sent.
 */
export async function respondWith(
  request: HostRequest | undefined,
  response: HostResponse | undefined,
  operation: (exchange: Exchange) => MaybePromise<Response>,
): Promise<NextResponse> {
  const binding = await bind(request, response)
  const result = await within(binding, async (exchange) => {
    // A caller that passes a request can return the response; a Server Component can do neither.
    const canWrite = request === undefined ? exchange.canWrite : () => true
    const operationResponse = await operation({ ...exchange, canWrite })
    const withCookies = new NextResponse(operationResponse.body, operationResponse)
    const { cookies } = exchange
    cookies.copyTo(withCookies.cookies)
    if (cookies.isPending) noStore(withCookies.headers)
    return withCookies
  })
  // Cookies that the host did not accept are sent with the returned response.
  if (request !== undefined) binding.exchange.cookies.flush({ set: () => undefined })
  return result
}
