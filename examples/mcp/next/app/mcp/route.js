import { mcp, readMessage, scopeOf } from '../../../people.mjs'
import { idp, people } from '../../lib/idp'

const respond = (request, { auth }) => mcp.fetch(request, { authInfo: people.authInfo(auth) })

const accept = [people]
const guarded = {
  'mcp:read': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:read' }),
  'mcp:write': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:write' }),
}

export async function POST(request, context) {
  return guarded[scopeOf(await readMessage(request))](request, context)
}
