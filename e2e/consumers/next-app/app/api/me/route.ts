import { idp } from '../../../lib/idp'

export const GET = idp.withApiAuthRequired(async () => {
  const session = await idp.getSession()
  return Response.json({ sub: session?.user.sub })
})
