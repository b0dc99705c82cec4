import { placeTaken } from '../../host-client.ts'
import type { SessionData } from '../../session/model/session-data.ts'

/** The property for the session in the object that a framework passes to all handlers of a request (`locals`). */
export interface SessionProperty {
  /** Returns whether this client has already defined it. */
  isDefined(locals: object): boolean
  /**
   * Loads the session and defines the property, which throws if loading failed: pages that do not read it still work.
   * Throws `INVALID_CONFIGURATION` if other code uses the name already.
   */
  define(locals: object, load: () => Promise<SessionData | null>): Promise<void>
}

/**
 * Creates the property of one client.
 *
 * @param assertOwn throws if the object is not that of one request, when the property is read.
 */
export function createSessionProperty(name: string, assertOwn?: (locals: object) => void): SessionProperty {
  const state = Symbol(name)

  /** The outcome of `define`, in the object itself or in one that it inherits from. */
  interface Defined {
    readonly [state]: { readonly locals: object; readonly loading: PromiseSettledResult<SessionData | null> }
  }

  // One function for all requests: an accessor of its own would keep an object until the next major garbage collection (decision 0023).
  function get(this: Defined): SessionData | null {
    const { loading, locals } = this[state]
    assertOwn?.(locals)
    if (loading.status === 'rejected') throw loading.reason
    return loading.value
  }

  const isDefined = (locals: object): boolean => Object.getOwnPropertyDescriptor(locals, name)?.get === get

  return {
    isDefined,

    async define(locals, load) {
      if (name in locals && !isDefined(locals)) throw placeTaken(`locals.${name}`)
      const [loading] = await Promise.allSettled([load()])
      Object.defineProperties(locals, {
        [state]: { value: { locals, loading }, configurable: true },
        [name]: { get, enumerable: true, configurable: true },
      })
    },
  }
}
