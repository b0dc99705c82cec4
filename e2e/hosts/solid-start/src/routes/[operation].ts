import { setCookie } from '@solidjs/start/http'
import { respond, sharing, toFailure, tokensOnly, toShared } from '../../support/contract.mjs'
import { idp } from '../idp'

/** The options of the guards with `accept`, by name of the path. */
const accepting = { resource: tokensOnly(idp), shared: sharing(idp) }

async function respondWithAuth(request, options) {
  const { auth, response } = await idp.requireAuth(request, options)
  return response ?? Response.json(toShared(auth))
}

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
  if (name in accepting) return respondWithAuth(request, accepting[name])
  const { searchParams: query } = new URL(request.url)
  return respond(idp, { context: request, name, query, set: setCookie })
}

export const POST = GET
