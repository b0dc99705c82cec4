import { env } from 'cloudflare:workers'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { IdpClient } from 'idp-client'
import { createMcpServer, describeApi, readMessage, scopeOf } from '../people.mjs'

const idp = new IdpClient({
  appBaseUrl: env.APP_BASE_URL,
  domain: env.IDP_DOMAIN,
  clientId: env.IDP_CLIENT_ID,
  clientSecret: env.IDP_CLIENT_SECRET,
  secret: env.IDP_SECRET,
  allowInsecureRequests: env.NODE_ENV !== 'production',
  processLasts: false,
})

async function respond(request, { auth }) {
  const transport = new WebStandardStreamableHTTPServerTransport()
  await createMcpServer(auth).connect(transport)
  return transport.handleRequest(request)
}

const accept = [idp.resource(describeApi(env.APP_BASE_URL))]
const guarded = {
  'mcp:read': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:read' }),
  'mcp:write': idp.withApiAuthRequired(respond, { accept, scope: 'mcp:write' }),
}

async function application(request) {
  if (new URL(request.url).pathname !== '/mcp') return new Response('Not found', { status: 404 })
  if (request.method !== 'POST') return new Response(null, { status: 405 })
  return guarded[scopeOf(await readMessage(request))](request)
}

export default {
  fetch: (request) => idp.middleware(request, application),
}
