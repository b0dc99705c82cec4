import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { EdgeClientOptions } from '../../src/adapters/edge/index.ts'
import {
  backchannelAuthentication,
  connectedAccounts,
  dpop,
  fetcher,
  generateDpopKeyPair,
  IdpClient,
  mfa,
  privateKeyJwt,
  sessionStore,
  tokenExchange,
} from '../../src/adapters/edge/index.ts'
import { customClock } from '../../src/config/options.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { APP, Browser, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: 60 })
})
afterAll(() => world.provider.stop())

function createClient(options: EdgeClientOptions = {}): IdpClient {
  const { provider } = world
  return new IdpClient({
    domain: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    logger: (event) => world.events.push(event),
    [customClock]: () => world.clock.now,
    ...options,
  })
}

/** Matches the error about a missing feature, which has the code to write. */
function missing(feature: string, user: string): unknown {
  return expect.objectContaining({
    name: 'InvalidConfigurationError',
    code: 'INVALID_CONFIGURATION',
    message: expect.stringContaining(
      `${user} needs the feature ${feature}: import { ${feature} } from 'idp-client/edge', and pass features: { ${feature} } to the constructor.`,
    ),
  })
}

describe('the client of idp-client/edge', () => {
  test('reports a signing key in a variable whose feature is missing, and has no session', async () => {
    vi.stubEnv('IDP_CLIENT_ASSERTION_SIGNING_KEY', 'key')
    onTestFinished(() => void vi.unstubAllEnvs())
    world.events.length = 0
    const client = createClient({ clientSecret: undefined })
    expect(world.events).toContainEqual(
      expect.objectContaining({
        code: 'CONFIGURATION',
        message: expect.stringContaining('features: { privateKeyJwt }'),
      }),
    )
    await expect(client.getSession(new Request(APP))).rejects.toEqual(
      missing('privateKeyJwt', 'IDP_CLIENT_ASSERTION_SIGNING_KEY'),
    )
  })

  test('has logins, sessions, guards, access tokens and logout without any feature', async () => {
    const client = createClient()
    const browser = new Browser(client)
    expect((await world.login(browser)).headers.get('location')).toBe(`${APP}/`)
    expect((await browser.session()).user.sub).toEqual(expect.any(String))
    expect(await client.getUserInfo(browser.request('/'))).toMatchObject({ sub: expect.any(String) })

    const page = client.withPageAuthRequired(() => new Response('page'))
    const api = client.withApiAuthRequired(() => new Response('api'))
    expect((await page(new Request(`${APP}/page`))).status).toBe(302)
    expect((await api(new Request(`${APP}/api`))).status).toBe(401)
    expect(await (await page(browser.request('/page'))).text()).toBe('page')

    const first = await client.getAccessToken({}, browser.request('/'), new Headers())
    world.clock.now += 61
    const refreshed = new Response()
    const second = await client.getAccessToken({}, browser.request('/'), refreshed)
    browser.store(refreshed)
    expect(second.token).not.toBe(first.token)

    expect((await browser.send('/auth/logout')).status).toBe(302)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('throws for an operation whose feature is missing, before any request to the provider', async () => {
    const client = createClient()
    const browser = new Browser(client)
    await world.login(browser)
    world.provider.clearRequests()
    const request = browser.request('/')
    const response = new Response()
    await expect(client.createFetcher({}, request)).rejects.toEqual(missing('fetcher', 'createFetcher'))
    await expect(
      client.customTokenExchange({ subjectToken: 't', subjectTokenType: 'urn:a:b:c' }),
    ).rejects.toEqual(missing('tokenExchange', 'customTokenExchange'))
    await expect(
      client.getTokenByBackchannelAuth({ bindingMessage: 'm', loginHint: { sub: 's' } }),
    ).rejects.toEqual(missing('backchannelAuthentication', 'getTokenByBackchannelAuth'))
    await expect(client.connectAccount({ connection: 'c' }, request, response)).rejects.toEqual(
      missing('connectedAccounts', 'connectAccount'),
    )
    await expect(client.listConnectedAccounts(request, response)).rejects.toEqual(
      missing('connectedAccounts', 'The operation on connected accounts'),
    )
    await expect(client.getAccessTokenForConnection({ connection: 'c' }, request, response)).rejects.toEqual(
      missing('connectedAccounts', 'getAccessTokenForConnection'),
    )
    await expect(client.mfa.getAuthenticators({ mfaToken: 't' }, request)).rejects.toEqual(
      missing('mfa', 'The property mfa'),
    )
    await expect(client.sessions.listBySubject('s')).rejects.toEqual(
      missing('sessionStore', 'The property sessions'),
    )
    expect(world.provider.requests()).toEqual([])
  })

  test('rejects an option whose feature is missing at construction', async () => {
    const dpopKeyPair = await generateDpopKeyPair()
    expect(() => createClient({ useDPoP: true, dpopKeyPair })).toThrow(
      missing('dpop', 'The option useDPoP') as Error,
    )
    expect(() => createClient({ sessionStore: memoryStore() })).toThrow(
      missing('sessionStore', 'The option sessionStore') as Error,
    )
    expect(() => createClient({ clientAssertionSigningKey: 'key' })).toThrow(
      missing('privateKeyJwt', 'The option clientAssertionSigningKey') as Error,
    )
    expect(() => createClient({ enableConnectAccountEndpoint: true })).toThrow(
      missing('connectedAccounts', 'The option enableConnectAccountEndpoint') as Error,
    )
  })

  test('rejects requests for routes whose feature is missing', async () => {
    const browser = new Browser(createClient())
    world.events.length = 0
    const logout = await browser.send('/auth/backchannel-logout', {
      method: 'POST',
      body: new URLSearchParams({ logout_token: 'x' }),
    })
    expect(logout.status).toBe(501)
    expect(await logout.json()).toMatchObject({ error: { code: 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED' } })
    const factors = await browser.send('/auth/mfa/authenticators')
    expect(factors.status).toBe(500)
    expect(await factors.json()).toMatchObject({ error: { code: 'INVALID_CONFIGURATION' } })
    expect(world.events).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('features: { mfa }') }),
    )
  })

  test('sends no request with a fetcher that binds tokens without the feature dpop', async () => {
    const dpopKeyPair = await generateDpopKeyPair()
    let requests = 0
    const fetch = async (): Promise<Response> => {
      requests += 1
      return new Response()
    }
    const client = createClient({ features: { fetcher } })
    const browser = new Browser(client)
    await world.login(browser)
    expect(() => createClient({ features: { fetcher }, dpopKeyPair })).toThrow(
      missing('dpop', 'The option dpopKeyPair') as Error,
    )
    await expect(client.createFetcher({ fetch, useDPoP: true }, browser.request('/'))).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('the feature dpop'),
    })
    const { fetchWithAuth } = await client.createFetcher(
      { fetch, getAccessToken: async () => ({ token: 't', token_type: 'DPoP' }) },
      browser.request('/'),
    )
    await expect(fetchWithAuth('https://api.example.com/')).rejects.toMatchObject({
      code: 'FETCHER_TOKEN_BOUND',
    })
    expect(requests).toBe(0)
  })

  test('has the operations of the features that it gets', async () => {
    const features = {
      backchannelAuthentication,
      connectedAccounts,
      dpop,
      fetcher,
      mfa,
      privateKeyJwt,
      sessionStore,
      tokenExchange,
    }
    const client = createClient({
      features,
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
      sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }),
    })
    const browser = new Browser(client)
    await world.login(browser)
    const { user } = await browser.session()
    expect(await client.sessions.listBySubject(user.sub)).toHaveLength(1)
    const calls: Headers[] = []
    const { fetchWithAuth } = await client.createFetcher(
      {
        fetch: async (...given: Parameters<typeof fetch>) => {
          calls.push(new Request(...given).headers)
          return new Response('data')
        },
      },
      browser.request('/'),
    )
    expect(await (await fetchWithAuth('https://api.example.com/')).text()).toBe('data')
    expect(calls[0]?.get('authorization')).toMatch(/^DPoP /)
    expect(calls[0]?.get('dpop')).toMatch(/^ey/)
    await expect(
      client.customTokenExchange({ subjectToken: ' ', subjectTokenType: 'urn:ietf:params:a' }),
    ).rejects.toMatchObject({ code: 'MISSING_SUBJECT_TOKEN' })
    await expect(client.mfa.getAuthenticators({ mfaToken: 'x' }, browser.request('/'))).rejects.toMatchObject(
      {
        name: 'MfaError',
      },
    )
  })
})
