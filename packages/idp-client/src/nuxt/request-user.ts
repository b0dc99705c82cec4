import { useRequestEvent } from '#imports'
import type { User } from '../session/model/session-data.ts'

/** The context of events, to which the module adds a function on the server. */
interface ReadingContext {
  readonly idpUser?: (event: object, isGuarded: boolean) => Promise<User | null | undefined>
}

/**
 * Returns the user of the request that the server renders a page for, `undefined` if other users get the same response.
 * Rejects if the session cannot be read.
 *
 * @param isGuarded whether a guard asks, which then cannot decide about a response for other users: that is reported
 */
export async function readRequestUser(isGuarded: boolean): Promise<User | null | undefined> {
  const event = useRequestEvent()
  const { idpUser }: ReadingContext = event?.context ?? {}
  return event && idpUser?.(event, isGuarded)
}
