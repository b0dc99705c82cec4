import { getServerSession } from 'next-auth'
import { authOptions } from '@/lib/auth-options'

export async function GET() {
  const session = await getServerSession(authOptions)
  if (!session) return Response.json({ error: 'unauthorized' }, { status: 401 })
  if (session.error) return Response.json({ error: session.error }, { status: 502 })
  return Response.json({ sub: session.sub, authorized: session.accessToken !== undefined })
}
