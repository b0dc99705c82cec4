import { setCookie } from '@solidjs/start/http'
import { respond, toFailure } from '../../support/contract.mjs'
import { idp } from '../idp'

async function api(request) {
  try {
    const { response, session } = await idp.requireAuth(request)
    return response ?? Response.json({ sub: session.user.sub })
  } catch (error) {
    return Response.json(toFailure(error), { status: 500 })
  }
}

export function GET({ params: { operation: name }, request }) {
  if (name === 'api') return api(request)
  const { searchParams: query } = new URL(request.url)
  return respond(idp, { context: request, name, query, set: setCookie })
}
