import { NextResponse } from 'next/server.js'
import { within } from '../../binding.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { HostRequest, HostResponse } from './binding.ts'
import { bind } from './binding.ts'

/**
 * The response of an operation with its cookies on it. The host gets the cookies too, where it takes some: a Server
 * Action cannot return a response, and `res` of the Pages Router is what is sent.
 */
export async function respondWith(
  request: HostRequest | undefined,
  response: HostResponse | undefined,
  operation: (exchange: Exchange) => Promise<Response>,
): Promise<NextResponse> {
  const binding = await bind(request, response)
  const answer = await within(binding, async (exchange) => {
    // A caller that passes a request can return the response; a Server Component can do neither.
    const canWrite = request === undefined ? exchange.canWrite : () => true
    const answered = await operation({ ...exchange, canWrite })
    const result = new NextResponse(answered.body, answered)
    for (const { name, value, attributes } of exchange.cookies.pending()) {
      result.cookies.set(name, value, attributes)
    }
    return result
  })
  // Cookies that no host has taken are sent with the response.
  if (request !== undefined) binding.exchange.cookies.flush({ set: () => undefined })
  return answer
}
