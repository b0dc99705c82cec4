import * as workers from 'cloudflare:workers'
import type { WaitUntil } from './async-context.ts'

export { createAsyncContext } from './async-context.web.ts'

/** Without it, the runtime ends the I/O of a request with its response or connection. */
export const waitUntil: WaitUntil = (work) => {
  try {
    // Older versions of the runtime have no such function.
    workers.waitUntil?.(work)
  } catch {
    // There is no request: then nothing ends.
  }
}
