import { idp } from '$lib/server/idp'
import type { RequestHandler } from './$types'

export const GET: RequestHandler = idp.requireAuth(async ({ locals }) =>
  Response.json({ sub: locals.idpSession?.user.sub }),
)
