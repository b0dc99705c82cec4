import type { Context } from 'hono'
import { IdpError } from '../../errors/base.ts'

/** Returns whether a value is a context of Hono. */
export function isContext(value: Partial<Context>): value is Context {
  return typeof value?.newResponse === 'function' && typeof value.req?.raw === 'object'
}

/** Throws `INVALID_ARGUMENTS` if the middleware was called by something other than Hono. */
export function assertContext(value: Context): void {
  if (isContext(value)) return
  const detail = 'Mount it as app.use(idp.middleware), with Hono 4.8 or later.'
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}

/** Sets the response. Assigned to another response, Hono would merge both: old cookies and old `Cache-Control` win. */
export function replaceResponse(c: Context, response: Response): void {
  c.res = undefined
  c.res = response
}

/** Responds with ours; headers that the application has set before are kept, unless ours have the same name. */
export function sendResponse(c: Context, response: Response): void {
  replaceResponse(c, c.newResponse(response.body, response))
}
