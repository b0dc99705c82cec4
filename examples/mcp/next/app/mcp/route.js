import { mcp, readMessage, scopeOf, toGuardOptions } from '../../../people.mjs'
import { idp, people } from '../../lib/idp'

const respond = (request, { auth }) => mcp.fetch(request, { authInfo: people.authInfo(auth) })

const guarded = {
  'mcp:read': idp.withApiAuthRequired(respond, toGuardOptions(people, 'mcp:read')),
  'mcp:write': idp.withApiAuthRequired(respond, toGuardOptions(people, 'mcp:write')),
}

export async function POST(request, context) {
  return guarded[scopeOf(await readMessage(request))](request, context)
}
