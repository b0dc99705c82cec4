import { idp } from '../../../lib/auth'
import { readOrder, receiptFor } from '../../../lib/bank'

/** Any second factor, as OpenID Provider Authentication Policy Extension 1.0 names it. */
const multiFactor = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** Transfers money for whoever took a second step at the provider in the last five minutes. */
export const POST = idp.withApiAuthRequired(
  async (request) => {
    const { payee, amount } = (await request.json().catch(() => ({}))) as Record<string, unknown>
    const order = readOrder(payee, amount)
    if (typeof order === 'string') return Response.json({ description: order }, { status: 400 })
    return Response.json(receiptFor(order))
  },
  { acr: multiFactor, maxAge: 300 },
)
