import { placeTaken } from '../../host-client.ts'
import type { SessionData } from '../../session/model/session-data.ts'

/** Object for data of a request that a framework passes to all its handlers, and the property for the session. */
interface SessionProperty {
  readonly locals: object
  readonly name: string
  /** The client that defines the property. */
  readonly client: object
  /** Throws if the object is not that of one request, when the property is read. */
  readonly assertOwn?: (locals: object) => void
}

/** Returns whether the client has already defined the property. */
export function hasSession({ client, locals, name }: SessionProperty): boolean {
  const get = Object.getOwnPropertyDescriptor(locals, name)?.get
  return get !== undefined && 'client' in get && get.client === client
}

/**
 * Loads the session and defines it as a property, which throws if loading failed: pages that do not read it still work.
 * Throws `INVALID_CONFIGURATION` if other code uses the name already.
 */
export async function defineSession(
  property: SessionProperty,
  load: () => Promise<SessionData | null>,
): Promise<void> {
  const { client, locals, name } = property
  if (name in locals && !hasSession(property)) throw placeTaken(`locals.${name}`)
  const [loading] = await Promise.allSettled([load()])
  const get = (): SessionData | null => {
    property.assertOwn?.(locals)
    if (loading.status === 'rejected') throw loading.reason
    return loading.value
  }
  Object.defineProperty(locals, name, {
    get: Object.assign(get, { client }),
    enumerable: true,
    configurable: true,
  })
}
