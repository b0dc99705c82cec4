import type { DevProviderOptions } from 'idp-dev-provider'
import { describe, expect, onTestFinished, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { deliver, startLogoutWorld } from '../support/logout-world.ts'

/** Providers that differ from the rest where a client notices it: the switches of the development provider. */

async function worldOf(options: IdpClientOptions, provider: DevProviderOptions): Promise<World> {
  const world = await startWorld(options, provider)
  onTestFinished(() => world.provider.stop())
  return world
}

async function logInAndRefresh(world: World): Promise<void> {
  const response = await world.login(world.browser)
  expect([response.status, response.headers.get('location')]).toEqual([302, 'http://localhost:3000/'])
  const request = world.browser.request('/')
  expect((await world.client.getAccessToken(request, new Headers(), { refresh: true })).token).toBeTruthy()
}

describe("a provider that accepts a client's secret in one way only", () => {
  test.each(['client_secret_basic', 'client_secret_post'] as const)(
    '[B4] %s, configured: login, pushed request and refresh',
    async (tokenEndpointAuthMethod) => {
      const world = await worldOf(
        { tokenEndpointAuthMethod, pushedAuthorizationRequests: true },
        { tokenEndpointAuthMethod, enforceAuthMethod: true },
      )
      await logInAndRefresh(world)
      const refused = world.provider.requests().filter(({ failure }) => failure !== undefined)
      expect(refused).toEqual([])
    },
  )

  test('[B4] the wrong one: the report names what was sent, what is advertised, and the option', async () => {
    const world = await worldOf(
      {},
      { tokenEndpointAuthMethod: 'client_secret_post', enforceAuthMethod: true },
    )
    expect((await world.login(world.browser)).status).toBeGreaterThanOrEqual(500)
    expect(world.provider.requests('token').map(({ status }) => status)).toEqual([401])
    const text = JSON.stringify(world.events)
    expect(text).toMatch(/Sent: client_secret_basic; advertised: client_secret_basic, client_secret_post/)
    expect(text).toContain('tokenEndpointAuthMethod')
  })
})

test('[B5] a provider that reads HTTP Basic literally: unreserved characters need no decoding', async () => {
  const world = await worldOf({}, { decodeBasic: false })
  const { clientId, clientSecret = '' } = await world.provider.addClient({
    clientId: 'client-_.~1',
    clientSecret: 'a-b_c.d~E9',
  })
  const { browser, client } = world.another({ clientId, clientSecret })
  await logInAndRefresh({ ...world, browser, client })
})

describe('a provider that accepts client assertions for its token endpoint only', () => {
  const audience = { assertionAudience: 'token_endpoint' } as const

  async function keyWorld(options: IdpClientOptions): Promise<World> {
    const world = await worldOf({ pushedAuthorizationRequests: true }, audience)
    const { clientId, privateKey } = world.provider.keyClient
    const own = { clientId, clientSecret: undefined, clientAssertionSigningKey: privateKey }
    return { ...world, ...world.another({ ...own, ...options }) }
  }

  test('[B6] clientAssertionAudience: that URL is the audience at every endpoint', async () => {
    await logInAndRefresh(await keyWorld({ clientAssertionAudience: 'token_endpoint' }))
  })

  test('[B6] the default: the report names what was sent', async () => {
    const world = await keyWorld({})
    expect((await world.browser.send('/auth/login')).status).toBeGreaterThanOrEqual(500)
    expect(JSON.stringify(world.events)).toMatch(/Sent: private_key_jwt with ES256, aud the issuer/)
  })
})

test('a provider that lists the granted scope: a guard that requires another one denies', async () => {
  const granted: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!String(input).endsWith('/token')) return response
    return Response.json({ ...(await response.json()), scope: ['openid'] })
  }
  const world = await worldOf({ [customFetch]: granted }, {})
  await world.login(world.browser)
  const guard = (scope: string) => world.client.requireAuth(world.browser.request('/api'), { scope })
  expect((await guard('openid')).response).toBeUndefined()
  expect((await guard('email')).response?.status).toBe(403)
})

describe('a provider that advertises several algorithms', () => {
  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)(
    '[B9,B10] ID tokens and logout tokens with %s, which is configured',
    async (alg) => {
      const world = await startLogoutWorld({ idTokenSignedResponseAlg: alg }, { idTokenSigningAlg: alg })
      onTestFinished(() => world.stop())
      const browser = await world.signedIn()
      await world.client.getAccessToken(browser.request('/'), new Headers(), { refresh: true })
      await world.provider.endSessions('alice')
      expect(world.provider.logoutNotices().map(({ status }) => status)).toEqual([200])
      expect(await world.userOf(browser)).toBeNull()
    },
  )

  test('[B9] another algorithm than the configured one is reported', async () => {
    const world = await worldOf({ idTokenSignedResponseAlg: 'ES256' }, { idTokenSigningAlg: 'PS256' })
    expect((await world.login(world.browser)).status).toBeGreaterThanOrEqual(500)
    expect(JSON.stringify(world.events)).toContain('idTokenSignedResponseAlg')
  })
})

test('[B10] a provider whose logout tokens have no exp ends sessions, and a replay is rejected', async () => {
  const world = await startLogoutWorld({}, { logoutTokenExp: false })
  onTestFinished(() => world.stop())
  const browser = await world.signedIn()
  await world.provider.endSessions('alice')
  const [notice] = world.provider.logoutNotices()
  expect(notice?.status).toBe(200)
  expect(await world.userOf(browser)).toBeNull()
  expect((await deliver(world.client, notice?.token ?? '')).status).toBe(400)
})
