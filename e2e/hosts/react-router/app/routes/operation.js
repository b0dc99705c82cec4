import { respond, toFailure } from '../../support/contract.mjs'
import { idp } from '../idp.server.js'

/** The guarded API: the guard throws its response. */
async function api(args) {
  try {
    const { user } = await idp.requireAuth(args)
    return Response.json({ sub: user.sub })
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

export function loader(args) {
  const name = args.params.operation
  if (name === 'api') return api(args)
  return respond(idp, { context: args, name, query: new URL(args.request.url).searchParams })
}
