'use server'

import { revalidatePath } from 'next/cache'
import { redirect } from 'next/navigation'
import { idp } from '../../lib/auth'

/** Ends one session of the visitor, or all but this one; what to tell afterwards. */
export async function endSessions(_previous: string, form: FormData): Promise<string> {
  const session = await idp.getSession()
  if (!session) redirect('/devices')
  const [own, current] = await Promise.all([
    idp.sessions.listBySubject(session.user.sub),
    idp.sessions.currentId(),
  ])
  const wanted = form.get('id')
  // An id comes from the browser: only those of the visitor's own sessions count.
  const ended = own.filter(({ id }) => id !== current && (wanted === 'others' || wanted === id))
  await Promise.all(ended.map(({ id }) => idp.sessions.revoke(id)))
  revalidatePath('/devices')
  if (ended.length === 0) return 'That session was over already.'
  return ended.length === 1 ? 'One session was ended.' : `${ended.length} sessions were ended.`
}
