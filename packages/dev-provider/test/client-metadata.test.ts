import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Authority } from '../src/certificates.ts'
import { createAuthority } from '../src/certificates.ts'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { oauthError, relyingParty } from './relying-party.ts'

/** Clients that are known by the URL of their metadata, as clients of MCP are (client-id metadata documents). */

let provider: DevProvider
let authority: Authority
let base: string
const documents = new Map<string, unknown>()
const server = createServer((request, response) => {
  const document = documents.get(request.url ?? '')
  response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(document))
})

beforeAll(async () => {
  provider = await startDevProvider()
  authority = await createAuthority('127.0.0.1')
  server.setSecureContext(authority.identity)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Read at every connection. The server has a certificate that only this file knows.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
})
afterAll(async () => {
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  await provider.stop()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await authority.remove()
})

/** Publishes metadata below a path, and returns the client at its URL. */
async function publish(path: string, changes: Record<string, unknown> = {}) {
  const clientId = base + path
  documents.set(path, {
    client_id: clientId,
    client_name: 'Command line',
    redirect_uris: ['http://127.0.0.1/callback', 'https://app.example.test/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...changes,
  })
  return relyingParty(provider, { clientId, auth: client.None() })
}

test('the metadata say that such clients are known', async () => {
  const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`)
  expect(await response.json()).toMatchObject({ client_id_metadata_document_supported: true })
})

test('a public client logs in by the URL of its metadata', async () => {
  const app = await publish('/client.json')
  const tokens = await app.logIn({ audience: 'https://api.example.test/', scope: 'openid read:things' })
  expect(tokens.access_token.split('.')).toHaveLength(3)
  expect(tokens.claims()).toMatchObject({ aud: `${base}/client.json`, sub: 'dev|alice' })
})

test.each<[string, Record<string, unknown>]>([
  ['another client id', { client_id: 'https://other.example/client.json' }],
  ['a secret', { client_secret: 'secret' }],
  ['a method with a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
])('a document with %s is refused', async (name, changes) => {
  const app = await publish(`/${encodeURIComponent(name)}.json`, changes)
  expect(await oauthError(app.logIn())).not.toBe('no error')
})

test('a document that does not exist is refused', async () => {
  const app = await publish('/gone.json')
  documents.delete('/gone.json')
  expect(await oauthError(app.logIn())).not.toBe('no error')
})
