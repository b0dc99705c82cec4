import type { NextApiRequest, NextApiResponse } from 'next'
import { idp } from '../../lib/idp'

export default idp.withApiAuthRequired(async (request: NextApiRequest, response: NextApiResponse) => {
  const session = await idp.getSession(request)
  response.json({ sub: session?.user.sub })
})
