import { defineAction } from 'astro:actions'
import { idp } from 'virtual:idp-client'

export const server = {
  saveTheme: defineAction({
    accept: 'form',
    handler: async (form, context) => {
      const session = await idp.requireActionAuth(context)
      await idp.updateSession({ ...session, theme: String(form.get('theme')).slice(0, 20) }, context)
    },
  }),
}
