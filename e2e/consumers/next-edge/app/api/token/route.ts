import { idp } from '../../../lib/idp'

export const dynamic = 'force-dynamic'

export async function GET() {
  const { token } = await idp.getAccessToken()
  return Response.json({ token })
}
