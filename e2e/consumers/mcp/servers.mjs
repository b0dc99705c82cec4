// An MCP server with two tools, on Express and on Hono. Reading needs one scope, writing a further one.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import express from 'express'
import { Hono } from 'hono'
import { IdpClient } from 'idp-client/express'
import { IdpClient as HonoIdpClient } from 'idp-client/hono'

const describeApi = (url) => ({ audience: `${url}/mcp`, scopes: ['mcp:read', 'mcp:write'], metadata: true })

const READING = ['whoami']

/** The scope that a message needs. A list of messages, and a tool that is not known to read, need that of writing. */
function scopeOf(message) {
  const isCall = message?.method === 'tools/call'
  const isReading = !Array.isArray(message) && (!isCall || READING.includes(message.params?.name))
  return isReading ? 'mcp:read' : 'mcp:write'
}

/** Returns a server for one request of a user. */
function createMcpServer({ sub }) {
  const server = new McpServer({ name: 'people', version: '1.0.0' })
  const text = (content) => ({ content: [{ type: 'text', text: content }] })
  server.registerTool('whoami', { description: 'Returns the user' }, async () => text(sub))
  server.registerTool('rename', { description: 'Renames the user' }, async () => text(`${sub} is renamed`))
  return server
}

function onExpress(options) {
  const idp = new IdpClient(options)
  const accept = [idp.resource(describeApi(options.appBaseUrl))]
  const guards = Object.fromEntries(
    ['mcp:read', 'mcp:write'].map((scope) => [scope, idp.withApiAuthRequired({ accept, scope })]),
  )
  const app = express().use(idp.middleware, express.json())
  const guard = (req, res, next) => guards[scopeOf(req.body)](req, res, next)
  app.all('/mcp', guard, async (req, res) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await createMcpServer(req.idpAuth).connect(transport)
    await transport.handleRequest(req, res, req.body)
  })
  return app
}

function onHono(options) {
  const idp = new HonoIdpClient(options)
  const accept = [idp.resource(describeApi(options.appBaseUrl))]
  const guards = Object.fromEntries(
    ['mcp:read', 'mcp:write'].map((scope) => [scope, idp.requireAuth({ accept, scope })]),
  )
  const app = new Hono().use(idp.middleware)
  const guard = async (c, next) => {
    const message = c.req.method === 'POST' ? await c.req.json() : undefined
    return guards[scopeOf(message)](c, next)
  }
  app.all('/mcp', guard, async (c) => {
    const transport = new WebStandardStreamableHTTPServerTransport()
    await createMcpServer(c.var.idpAuth).connect(transport)
    const parsedBody = c.req.method === 'POST' ? await c.req.json() : undefined
    return transport.handleRequest(c.req.raw, { parsedBody })
  })
  return getRequestListener(app.fetch)
}

const servers = { express: onExpress, hono: onHono }

export const names = Object.keys(servers)

/** Starts the server of a framework on a free port of the loopback address. */
export async function start(name, options) {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  server.on('request', servers[name]({ ...options, appBaseUrl: url }))
  return {
    url,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
