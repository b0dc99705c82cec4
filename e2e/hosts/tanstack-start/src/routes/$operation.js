import { createFileRoute } from '@tanstack/react-router'
import { respond, sharing, toFailure, tokensOnly, toShared } from '../../support/contract.mjs'
import { idp } from '../idp.server'

/** The options of the guards with `accept`, by name of the path. */
const accepting = { resource: tokensOnly(idp), shared: sharing(idp) }

/** The guarded API: the guard throws its response. */
async function api(options) {
  try {
    if (options) return Response.json(toShared(await idp.requireAuth(options)))
    const { user } = await idp.requireAuth()
    return Response.json({ sub: user.sub })
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

function respondTo({ params: { operation: name }, request }) {
  if (name === 'api' || name in accepting) return api(accepting[name])
  return respond(idp, { context: request, name, query: new URL(request.url).searchParams })
}

export const Route = createFileRoute('/$operation')({
  server: { handlers: { GET: respondTo, POST: respondTo } },
})
