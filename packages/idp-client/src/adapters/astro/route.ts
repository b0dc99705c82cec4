import { IdpError } from '../../errors/base.ts'
import { openBinding } from '../../http/host-state.ts'
import { MOUNT_LINE } from './client.ts'
import type { FrameworkRequest, FrameworkResponse } from './context.ts'

/**
 * The endpoint of `src/pages/auth/[...route].ts`. Astro runs the middleware for paths of existing pages only, and
 * `idp.onRequest` responds to the auth routes; all other paths below `/auth` are not found.
 */
export function ALL({ locals }: FrameworkRequest): FrameworkResponse {
  if (openBinding(locals)) return new Response(null, { status: 404 })
  throw new IdpError('AMBIENT_REQUEST_MISSING', {
    detail: `The auth routes need the middleware in front of them: ${MOUNT_LINE}`,
  })
}
