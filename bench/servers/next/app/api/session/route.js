import { getSession } from '../../../product'

export const dynamic = 'force-dynamic'

export async function GET() {
  const session = await getSession()
  return Response.json({ sub: session?.user.sub ?? null })
}
