import { idp } from '../../../lib/auth'

export const GET = idp.withApiAuthRequired(async () => {
  const session = await idp.getSession()
  return Response.json({ router: 'App Router', sub: session?.user.sub, email: session?.user.email ?? null })
})
