import { respond, sharing, toFailure, toShared } from '../../support/contract.mjs'
import { idp } from '../idp.server.js'

const options = sharing(idp)

/** The guarded API: the guard throws its response. */
async function api(args, isShared) {
  try {
    if (isShared) return Response.json(toShared(await idp.requireAuth(args, options)))
    const { user } = await idp.requireAuth(args)
    return Response.json({ sub: user.sub })
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

export function loader(args) {
  const name = args.params.operation
  if (name === 'api' || name === 'shared') return api(args, name === 'shared')
  return respond(idp, { context: args, name, query: new URL(args.request.url).searchParams })
}
