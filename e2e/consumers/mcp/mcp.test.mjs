// node --test: the client of the official MCP SDK finds the provider of a server that it knows by its URL only.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startDevProvider } from 'idp-dev-provider'
import { names, start } from './servers.mjs'

const REDIRECT = 'http://127.0.0.1:4999/callback'

let provider
before(async () => {
  provider = await startDevProvider({ host: '127.0.0.1' })
})
after(() => provider.stop())

/** A client on the user's machine that is registered at the provider; it keeps tokens in memory. */
async function createMachine() {
  const { clientId, clientSecret } = await provider.addClient({ redirectUris: [REDIRECT] })
  const kept = {}
  return {
    kept,
    redirectUrl: REDIRECT,
    clientMetadata: { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' },
    clientInformation: () => ({ client_id: clientId, client_secret: clientSecret }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      kept.authorization = url
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
  }
}

const read = ({ content }) => content[0].text

for (const name of names) {
  describe(name, () => {
    let server
    before(async () => {
      const { clientId, clientSecret, issuer } = provider
      const secret = '0123456789abcdef'.repeat(4)
      const options = { domain: issuer, clientId, clientSecret, secret, allowInsecureRequests: true }
      server = await start(name, { ...options, logger: () => {} })
      await provider.addApi({ audience: `${server.url}/mcp`, scopes: ['mcp:read', 'mcp:write'] })
    })
    after(() => server.stop())

    const connect = (authProvider) => {
      const client = new Client({ name: 'machine', version: '1.0.0' })
      const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider })
      return { client, transport, connected: client.connect(transport) }
    }

    /** The user logs in at the authorization URL that the client has found. */
    async function logIn({ kept }, transport) {
      const { location } = await provider.login(String(kept.authorization), { user: 'alice' })
      await transport.finishAuth(new URL(location).searchParams.get('code'))
    }

    const fails = (promise) =>
      promise.then(
        () => ok(false, 'it must fail'),
        (error) => ok(error instanceof UnauthorizedError, String(error)),
      )

    test('discovery, login, tool, and a further scope for another tool', async () => {
      const machine = await createMachine()
      const first = connect(machine)
      await fails(first.connected)
      const { searchParams } = machine.kept.authorization
      equal(searchParams.get('resource'), `${server.url}/mcp`)
      equal(searchParams.get('scope'), 'mcp:read')
      await logIn(machine, first.transport)
      const second = connect(machine)
      await second.connected
      equal(read(await second.client.callTool({ name: 'whoami' })), 'dev|alice')

      await fails(second.client.callTool({ name: 'rename' }))
      const wanted = machine.kept.authorization.searchParams.get('scope').split(' ').sort()
      deepEqual(wanted, ['mcp:read', 'mcp:write'])
      await logIn(machine, second.transport)
      equal(read(await second.client.callTool({ name: 'rename' })), 'dev|alice is renamed')
      await second.client.close()
    })

    test('a list of messages does not hide the tool that writes', async () => {
      const token = await provider.signAccessToken({
        sub: 'dev|alice',
        aud: `${server.url}/mcp`,
        scope: 'mcp:read',
      })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const accept = 'application/json, text/event-stream'
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rename' } }
      for (const body of [call, [call]]) {
        const init = { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(body) }
        equal((await fetch(`${server.url}/mcp`, init)).status, 403)
      }
    })

    test('a token for another API of the same provider is refused', async () => {
      const token = await provider.signAccessToken({
        sub: 'dev|alice',
        aud: 'https://api.example.test/',
        scope: 'mcp:read mcp:write',
      })
      const response = await fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      })
      equal(response.status, 401)
      const address = `${server.url}/.well-known/oauth-protected-resource/mcp`
      ok(response.headers.get('www-authenticate').includes(`resource_metadata="${address}"`))
      const document = await (await fetch(address)).json()
      deepEqual(document.authorization_servers, [provider.issuer])
    })
  })
}
