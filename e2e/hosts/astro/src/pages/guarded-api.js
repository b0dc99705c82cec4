import { idp } from '../lib/idp.js'

export const GET = idp.requireAuth(async (context) => {
  const session = await idp.getSession(context)
  return Response.json({ sub: session.user.sub })
})
