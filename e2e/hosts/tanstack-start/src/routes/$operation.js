import { createFileRoute } from '@tanstack/react-router'
import { respond, sharing, toFailure, toShared } from '../../support/contract.mjs'
import { idp } from '../idp.server'

const options = sharing(idp)

/** The guarded API: the guard throws its response. */
async function api(isShared) {
  try {
    if (isShared) return Response.json(toShared(await idp.requireAuth(options)))
    const { user } = await idp.requireAuth()
    return Response.json({ sub: user.sub })
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

function get({ params: { operation: name }, request }) {
  if (name === 'api' || name === 'shared') return api(name === 'shared')
  return respond(idp, { context: request, name, query: new URL(request.url).searchParams })
}

export const Route = createFileRoute('/$operation')({ server: { handlers: { GET: get } } })
