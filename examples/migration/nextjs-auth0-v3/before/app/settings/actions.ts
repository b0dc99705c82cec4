'use server'

import { getSession, updateSession } from '@auth0/nextjs-auth0'

export async function saveTheme(form: FormData) {
  const session = await getSession()
  if (!session) return
  await updateSession({ ...session, user: { ...session.user, theme: form.get('theme') } })
}
