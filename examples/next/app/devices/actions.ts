'use server'

import { revalidatePath } from 'next/cache'
import { redirect } from 'next/navigation'
import { idp } from '../../lib/auth'

/** Ends one session of the user, or all but the current one, and returns a message. */
export async function endSessions(_previous: string, form: FormData): Promise<string> {
  const session = await idp.getSession()
  if (!session) redirect('/devices')
  const [own, current] = await Promise.all([
    idp.sessions.listBySubject(session.user.sub),
    idp.sessions.currentId(),
  ])
  const wanted = form.get('id')
  // The id comes from the browser: only the user's own sessions can be ended.
  const ended = own.filter(({ id }) => id !== current && (wanted === 'others' || wanted === id))
  await Promise.all(ended.map(({ id }) => idp.sessions.revoke(id)))
  revalidatePath('/devices')
  if (ended.length === 0) return 'This session has already ended.'
  return ended.length === 1 ? 'One session was ended.' : `${ended.length} sessions were ended.`
}
