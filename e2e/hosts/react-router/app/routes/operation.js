import { respond, sharing, toFailure, tokensOnly, toShared } from '../../support/contract.mjs'
import { idp } from '../idp.server.js'

/** The options of the guards with `accept`, by name of the path. */
const accepting = { resource: tokensOnly(idp), shared: sharing(idp) }

/** The guarded API: the guard throws its response. */
async function api(args, options) {
  try {
    if (options) return Response.json(toShared(await idp.requireAuth(args, options)))
    const { user } = await idp.requireAuth(args)
    return Response.json({ sub: user.sub })
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

export function loader(args) {
  const name = args.params.operation
  if (name === 'api' || name in accepting) return api(args, accepting[name])
  return respond(idp, { context: args, name, query: new URL(args.request.url).searchParams })
}

export const action = loader
