import { idp } from '$lib/server/idp'
import type { PageServerLoad } from './$types'

export const load: PageServerLoad = async (event) => {
  const session = await idp.requireLogin(event)
  return { sub: session.user.sub }
}
