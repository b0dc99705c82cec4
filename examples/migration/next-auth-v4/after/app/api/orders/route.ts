import { isIdpError } from 'idp-client/errors'
import { idp } from '@/lib/idp'

export const GET = idp.withApiAuthRequired(async () => {
  const session = await idp.getSession()
  try {
    const { token } = await idp.getAccessToken()
    return Response.json({ sub: session?.user.sub, authorized: token !== undefined })
  } catch (error) {
    if (!isIdpError(error)) throw error
    return Response.json({ error: error.code }, { status: 502 })
  }
})
