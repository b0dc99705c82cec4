import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { keeping } from '../support/mfa.ts'

/** Client authentication where the provider takes other methods than at the token endpoint (RFC 8414 section 2), as Authlib does. */

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterEach(() => {
  world.events.length = 0
  world.provider.faults.clear()
})
afterAll(() => world.provider.stop())

const API = 'https://api.example.test/'

/** A client whose provider takes these methods at the endpoint. A `fetch` of its own has metadata of its own. */
async function signedIn(endpoint: string, methods: unknown, options: IdpClientOptions) {
  const restore = world.provider.rewrite('discovery', (json) => ({
    ...json,
    [`${endpoint}_endpoint_auth_methods_supported`]: methods,
  }))
  const made = world.another({ [customFetch]: (input, init) => fetch(input, init), ...options })
  await world.login(made.browser)
  restore()
  world.provider.clearRequests()
  return made
}

function methodAt(endpoint: 'introspection' | 'revocation'): string {
  const [request] = world.provider.requests(endpoint)
  const isPost = request?.body['client_secret'] !== undefined
  const isBasic = request?.headers['authorization'] !== undefined
  expect(isPost).not.toBe(isBasic)
  return isPost ? 'client_secret_post' : 'client_secret_basic'
}

const post: IdpClientOptions = { tokenEndpointAuthMethod: 'client_secret_post' }

const cases = [
  ['client_secret_basic', post, ['client_secret_basic']],
  ['client_secret_post', {}, ['client_secret_post', 'private_key_jwt']],
  ['client_secret_post', post, ['client_secret_basic', 'client_secret_post']],
  ['client_secret_post', post, ['private_key_jwt']],
  ['client_secret_post', post, undefined],
  ['client_secret_basic', {}, null],
] as const

test.each(cases)('a revocation sends the secret by %s, with %j and %j', async (method, options, methods) => {
  const { browser, client } = await signedIn('revocation', methods, options)
  const revoke = (request: Request, headers: Headers) => client.revokeRefreshToken(request, headers)
  expect(await keeping(browser, revoke)).toBe(true)
  expect(methodAt('revocation')).toBe(method)
})

test.each(cases)(
  'an introspection sends the secret by %s, with %j and %j',
  async (method, options, methods) => {
    const { browser, client } = await signedIn('introspection', methods, options)
    const { accessToken } = (await browser.session()).tokenSet
    const headers = { authorization: `Bearer ${accessToken}` }
    const accept = [client.resource({ audience: API, introspection: { audience: 'optional' } })]
    await client.requireAuth(new Request('http://localhost:3000/api', { headers }), { accept })
    expect(methodAt('introspection')).toBe(method)
  },
)

test('a refusal names the methods of the endpoint', async () => {
  const { browser, client } = await signedIn('revocation', ['private_key_jwt'], post)
  const body = JSON.stringify({ error: 'invalid_client' })
  const headers = { 'content-type': 'application/json' }
  world.provider.faults.set('revocation', { kind: 'respond', status: 401, body, headers })
  await keeping(browser, (request, set) => client.revokeRefreshToken(request, set)).catch(() => {})
  expect(JSON.stringify(world.events)).toContain('Sent: client_secret_post; advertised: private_key_jwt.')
})
