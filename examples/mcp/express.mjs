import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'
import { IdpClient } from 'idp-client/express'
import { createMcpServer, describeApi, scopeOf } from './people.mjs'

const { APP_BASE_URL = 'http://localhost:3000', NODE_ENV, PORT = '3000' } = process.env
const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production' })
const accept = [idp.resource(describeApi(APP_BASE_URL))]
const guards = {
  'mcp:read': idp.withApiAuthRequired({ accept, scope: 'mcp:read' }),
  'mcp:write': idp.withApiAuthRequired({ accept, scope: 'mcp:write' }),
}

const app = express().use(idp.middleware, express.json())
const guard = (req, res, next) => guards[scopeOf(req.body)](req, res, next)

app.post('/mcp', guard, async (req, res) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  await createMcpServer(req.idpAuth).connect(transport)
  // Without a message that the guard has seen, the transport must not read one itself.
  await transport.handleRequest(req, res, req.body ?? null)
})
// There is no stream that the client could open: each message has its response.
app.all('/mcp', (_req, res) => res.sendStatus(405))

app.listen(Number(PORT), '127.0.0.1')
