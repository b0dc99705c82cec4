import { idp } from '../../../lib/auth'
import { parseOrder } from '../../../lib/bank'
import { book } from '../../../lib/ledger'

/** Any second factor, as defined by OpenID Provider Authentication Policy Extension 1.0. */
const multiFactor = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** Transfers money if the user has used a second factor at the provider in the last five minutes. */
export const POST = idp.withApiAuthRequired(
  async (request) => {
    const { payee, amount } = (await request.json().catch(() => ({}))) as Record<string, unknown>
    const order = parseOrder(payee, amount)
    const session = await idp.getSession()
    const receipt = typeof order === 'string' || !session ? order : book(session.user.sub, order)
    if (typeof receipt === 'string') return Response.json({ description: receipt }, { status: 400 })
    return Response.json(receipt)
  },
  { acr: multiFactor, maxAge: 300 },
)
