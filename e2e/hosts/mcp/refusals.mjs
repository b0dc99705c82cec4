// node refusals.mjs <URL of a server> <issuer> <token for reading> <token for another API> <token without a client>: requests that
// the client of the SDK does not send.
import { deepEqual, equal, ok } from 'node:assert/strict'

const [url, issuer, readingToken, foreignToken, tokenWithoutClient] = process.argv.slice(2)

const send = (body, token, type = 'application/json') =>
  fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': type,
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body,
  })

const rename = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rename' } }
// A list of messages does not hide the tool that writes.
for (const message of [rename, [rename]])
  equal((await send(JSON.stringify(message), readingToken)).status, 403)
// Nor does a type that a body parser leaves unread, and the SDK accepts.
for (const type of ['application/json; foo', 'application/json;', 'text/plain; a=application/json'])
  ok([400, 403, 415].includes((await send(JSON.stringify(rename), readingToken, type)).status))
for (const body of ['{}', 'not JSON']) equal((await send(body, readingToken)).status, 400)
equal((await send(JSON.stringify(rename), foreignToken)).status, 401)
const whoami = { ...rename, params: { name: 'whoami' } }
equal((await send(JSON.stringify(whoami), tokenWithoutClient)).status, 403)
equal((await fetch(url)).status, 405)

// Nor does a message open a stream of notifications, which would outlast the token.
const version = '2026-07-28'
const listen = await fetch(url, {
  method: 'POST',
  headers: {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${readingToken}`,
    'content-type': 'application/json',
    'mcp-method': 'subscriptions/listen',
    'mcp-protocol-version': version,
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 2,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'machine', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
})
ok(listen.headers.get('content-type').startsWith('application/json'))
equal((await listen.json()).error.message, 'Subscription limit reached')

const { origin } = new URL(url)
const address = `${origin}/.well-known/oauth-protected-resource/mcp`
const challenge = await send(JSON.stringify(rename))
equal(challenge.status, 401)
ok(challenge.headers.get('www-authenticate').includes(`resource_metadata="${address}"`))
const { authorization_servers, resource } = await (await fetch(address)).json()
deepEqual([resource, authorization_servers], [url, [issuer]])
