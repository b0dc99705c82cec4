import type { APIRoute } from 'astro'
import { idp } from '../../lib/idp'

export const GET: APIRoute = idp.requireAuth(async ({ locals }) =>
  Response.json({ sub: locals.idpSession?.user.sub }),
)
