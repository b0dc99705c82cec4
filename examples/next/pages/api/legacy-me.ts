import type { NextApiRequest, NextApiResponse } from 'next'
import { idp } from '../../lib/auth'

export default idp.withApiAuthRequired(async (req: NextApiRequest, res: NextApiResponse) => {
  const session = await idp.getSession(req)
  res.json({ router: 'Pages Router', sub: session?.user.sub, email: session?.user.email ?? null })
})
