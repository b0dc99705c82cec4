import type { APIEvent } from '@solidjs/start/server'
import { idp } from '../../idp'

export async function GET({ request }: APIEvent) {
  const { response, session } = await idp.requireAuth(request)
  return response ?? Response.json({ sub: session.user.sub })
}
