import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpServer, readMessage, scopeOf } from '../../../people.mjs'
import { idp, people } from '../../lib/idp'

async function respond(request, { auth }) {
  const transport = new WebStandardStreamableHTTPServerTransport()
  await createMcpServer(auth).connect(transport)
  return transport.handleRequest(request)
}

const accept = [people]
const guarded = {
  'mcp:read': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:read' }),
  'mcp:write': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:write' }),
}

export async function POST(request, context) {
  return guarded[scopeOf(await readMessage(request))](request, context)
}
