'use server'

import { auth0 } from '@/lib/auth0'

export async function saveTheme(form: FormData) {
  const session = await auth0.getSession()
  if (!session) return
  await auth0.updateSession({ ...session, theme: String(form.get('theme')) })
}
