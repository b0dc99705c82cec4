import { useRequestEvent } from '#imports'
import type { User } from '../session/model/session-data.ts'

/** The context of events, to which the module adds a function on the server. */
interface ReadingContext {
  readonly idpUser?: (event: object) => Promise<User | null | undefined>
}

/**
 * Returns the user of the request that the server renders a page for, `undefined` if other users get the same response.
 * Rejects if the session cannot be read.
 */
export async function readRequestUser(): Promise<User | null | undefined> {
  const event = useRequestEvent()
  const { idpUser }: ReadingContext = event?.context ?? {}
  return event && idpUser?.(event)
}
