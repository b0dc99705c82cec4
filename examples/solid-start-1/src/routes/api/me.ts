import type { APIEvent } from '@solidjs/start/server'
import { idp } from '../../idp'

export async function GET({ nativeEvent }: APIEvent) {
  const { response, session } = await idp.requireAuth(nativeEvent)
  return response ?? Response.json({ sub: session.user.sub })
}
