// The part of the server that is the same on every framework: two tools, and the scopes that they need.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

/** Returns the API of an application. The provider knows it by its URL, which clients request as `resource`. */
export const describeApi = (baseUrl) => ({
  audience: `${baseUrl}/mcp`,
  scopes: ['mcp:read', 'mcp:write'],
  origins: [new URL(baseUrl).origin],
  metadata: true,
})

/** Returns the options of the guard for a scope. It refuses tokens that name no client, which the SDK must know. */
export const toGuardOptions = (people, scope) => ({
  accept: [people],
  scope,
  authorize: ({ clientId }) => clientId !== undefined,
})

const READING = ['whoami']

/** Returns the scope that a message needs. A list of messages, and a tool that is not known to read, need that of writing. */
export function scopeOf(message) {
  const isCall = message?.method === 'tools/call'
  const isReading = !Array.isArray(message) && (!isCall || READING.includes(message.params?.name))
  return isReading ? 'mcp:read' : 'mcp:write'
}

/** Returns the message of a Web request, whose body can still be read; `undefined` if it is not JSON: the transport refuses that. */
export const readMessage = (request) =>
  request
    .clone()
    .json()
    .catch(() => undefined)

/** Returns the server for one message, whose user is that of the access token. */
function createServer({ authInfo }) {
  const { sub } = authInfo.extra
  const server = new McpServer({ name: 'people', version: '1.0.0' })
  const text = (content) => ({ content: [{ type: 'text', text: content }] })
  server.registerTool('whoami', { description: 'Returns the user' }, async () => text(sub))
  server.registerTool('rename', { description: 'Renames the user' }, async () => text(`${sub} is renamed`))
  return server
}

/** Serves each message by a server of its own. A stream of notifications would outlast the access token, so it opens none. */
export const mcp = createMcpHandler(createServer, { maxSubscriptions: 0 })
