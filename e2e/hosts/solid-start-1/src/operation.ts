import { setCookie } from 'vinxi/http'
import { respond, sharing, toFailure, tokensOnly, toShared } from '../support/contract.mjs'
import { idp } from './idp'

/** The options of the guards with `accept`, by name of the path. */
const accepting = { resource: tokensOnly(idp), shared: sharing(idp) }

async function respondWithAuth(event, options) {
  const { auth, response } = await idp.requireAuth(event, options)
  return response ?? Response.json(toShared(auth))
}

async function api(event) {
  try {
    const { response, session } = await idp.requireAuth(event)
    return response ?? Response.json({ sub: session.user.sub })
  } catch (error) {
    return Response.json(toFailure(error), { status: 500 })
  }
}

export function operate({ nativeEvent, request }) {
  const { pathname, searchParams: query } = new URL(request.url)
  const name = pathname.slice(1)
  if (name === 'api') return api(nativeEvent)
  if (name in accepting) return respondWithAuth(nativeEvent, accepting[name])
  return respond(idp, {
    context: nativeEvent,
    name,
    query,
    set: (name, value) => setCookie(nativeEvent, name, value),
  })
}
