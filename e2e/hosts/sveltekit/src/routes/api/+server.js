import { idp } from '$lib/idp.js'

export const GET = idp.requireAuth(async (event) => {
  const session = await idp.getSession(event)
  return Response.json({ sub: session.user.sub })
})
