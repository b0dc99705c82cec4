import { action, query } from '@solidjs/router'
import { getWebRequest } from '@solidjs/start/http'
import { idp } from './idp'

export const getUser = query(async () => {
  'use server'
  const session = await idp.getSession()
  return session && { sub: session.user.sub }
}, 'user')

export const requireUser = query(async (returnTo: string) => {
  'use server'
  const { response, session } = await idp.requireLogin(getWebRequest(), { returnTo })
  if (response) throw response
  const { user, theme = 'light' } = session
  return { sub: user.sub, theme: String(theme) }
}, 'requireUser')

export const saveTheme = action(async (form: FormData) => {
  'use server'
  const { response, session } = await idp.requireLogin(getWebRequest(), { returnTo: '/account' })
  if (response) throw response
  await idp.updateSession({ ...session, theme: String(form.get('theme')).slice(0, 20) })
}, 'saveTheme')
