import { query } from '@solidjs/router'
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
  return { sub: session.user.sub }
}, 'requireUser')
