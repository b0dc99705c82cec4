import type { NextApiRequest, NextApiResponse } from 'next'
import { auth0 } from '../../lib/auth0'

async function calendar(request: NextApiRequest, response: NextApiResponse) {
  const { expiresAt } = await auth0.getAccessTokenForConnection(
    { connection: 'google-oauth2' },
    request,
    response,
  )
  response.json({ expiresAt })
}

export default auth0.withApiAuthRequired(calendar)
