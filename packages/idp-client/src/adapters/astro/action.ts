import type { GuardResult } from '../../guards/guards.ts'
import type { SessionData } from '../../session/model/session-data.ts'

/** Returns the session. Throws the response of an API guard as the error that Astro sends to the caller of an action. */
export async function toActionSession({ session, response }: GuardResult): Promise<SessionData> {
  if (session) return session
  // A module of Astro's bundler: loaded here, so that nothing else needs actions.
  const { ActionError } = await import('astro:actions')
  const { description } = await response.json()
  throw new ActionError({ code: ActionError.statusToCode(response.status), message: description })
}
