import { idp } from 'virtual:idp-client'
import type { APIRoute } from 'astro'

export const GET: APIRoute = idp.requireAuth(async ({ locals }) =>
  Response.json({ sub: locals.idpSession?.user.sub }),
)
