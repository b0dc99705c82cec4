import { idp } from '$lib/server/idp'
import type { Actions, PageServerLoad } from './$types'

export const load: PageServerLoad = async (event) => {
  const session = await idp.requireLogin(event)
  return { sub: session.user.sub, theme: session.theme }
}

export const actions: Actions = {
  default: async (event) => {
    const session = await idp.requireLogin(event)
    const form = await event.request.formData()
    await idp.updateSession({ ...session, theme: String(form.get('theme')).slice(0, 20) }, event)
  },
}
