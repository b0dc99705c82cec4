// node client.mjs <URL of a server> <client id> <redirect URI>, as a child process with a channel: the client of the official MCP SDK
// on the machine of a user, which knows the server by its URL only. The parent opens the pages that it sends in the browser of the
// user, which returns to the redirect URI on this machine (RFC 8252).
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'

const [url, clientId, redirectUri] = process.argv.slice(2)
process.once('disconnect', () => process.exit())

const { hostname, pathname, port } = new URL(redirectUri)
const listener = createServer((request, response) => {
  const redirect = new URL(request.url, redirectUri)
  if (redirect.pathname !== pathname) return response.writeHead(404).end()
  response.setHeader('content-type', 'text/plain').end('You can close this page.')
  listener.emit('redirect', redirect.searchParams)
}).listen(Number(port), hostname)
await once(listener, 'listening')

/** The state of the client, and the page that it wants the user to see. */
const kept = {}

const authProvider = {
  redirectUrl: redirectUri,
  clientMetadata: { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
  clientInformation: () => ({ client_id: clientId }),
  state: () => randomUUID(),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens
  },
  redirectToAuthorization: (page) => {
    kept.page = page
  },
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier
  },
  codeVerifier: () => kept.verifier,
}

function connect(mode) {
  const client = new Client({ name: 'machine', version: '1.0.0' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
  return { client, transport, connected: client.connect(transport) }
}

/** Lets the user log in at the page that the client has found. */
async function logIn(transport) {
  const redirected = once(listener, 'redirect')
  process.send(kept.page.href)
  const [parameters] = await redirected
  equal(parameters.get('state'), kept.page.searchParams.get('state'))
  await transport.finishAuth(parameters)
}

const call = async (client, name) => (await client.callTool({ name })).content[0].text

const first = connect('auto')
await rejects(first.connected, UnauthorizedError)
equal(kept.page.searchParams.get('resource'), url)
equal(kept.page.searchParams.get('scope'), 'mcp:read')
await logIn(first.transport)

const { client, connected, transport } = connect('auto')
await connected
equal(client.getNegotiatedProtocolVersion(), '2026-07-28')
equal(await call(client, 'whoami'), 'dev|alice')
await rejects(call(client, 'rename'), UnauthorizedError)
deepEqual(kept.page.searchParams.get('scope').split(' ').sort(), ['mcp:read', 'mcp:write'])
await logIn(transport)
equal(await call(client, 'rename'), 'dev|alice is renamed')
await client.close()

// A client of the protocol before 2026-07-28.
const earlier = connect('legacy')
await earlier.connected
equal(await call(earlier.client, 'rename'), 'dev|alice is renamed')
await earlier.client.close()
process.disconnect()
