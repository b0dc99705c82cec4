import { serve } from '@hono/node-server'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { IdpClient } from 'idp-client/hono'
import { createMcpServer, describeApi, readMessage, scopeOf } from './people.mjs'

const { APP_BASE_URL = 'http://localhost:3000', NODE_ENV, PORT = '3000' } = process.env
const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production' })
const accept = [idp.resource(describeApi(APP_BASE_URL))]
const guards = {
  'mcp:read': idp.requireAuth({ accept, scope: 'mcp:read' }),
  'mcp:write': idp.requireAuth({ accept, scope: 'mcp:write' }),
}

const app = new Hono().use(idp.middleware)
const guard = async (c, next) => guards[scopeOf(await readMessage(c.req.raw))](c, next)

app.post('/mcp', bodyLimit({ maxSize: 100_000 }), guard, async (c) => {
  const transport = new WebStandardStreamableHTTPServerTransport()
  await createMcpServer(c.var.idpAuth).connect(transport)
  return transport.handleRequest(c.req.raw)
})
// There is no stream that the client could open: each message has its response.
app.all('/mcp', (c) => c.body(null, 405))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) })
