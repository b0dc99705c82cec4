'use server'

import { idp } from '@/lib/idp'

export async function saveTheme(form: FormData) {
  const session = await idp.getSession()
  if (!session) return
  await idp.updateSession({ ...session, theme: String(form.get('theme')) })
}
