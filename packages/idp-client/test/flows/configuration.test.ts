import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { customFetch, IdpClient, isContinue } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { startSecureProvider } from '../support/secure-provider.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
afterEach(() => vi.unstubAllEnvs())

const complete = {
  domain: 'idp.example.com',
  clientId: 'client',
  clientSecret: 'secret-of-client',
  secret: SECRET,
  appBaseUrl: 'https://app.example.com',
} satisfies IdpClientOptions

describe('incomplete configuration fails closed', () => {
  const faults: [string, IdpClientOptions][] = [
    ['nothing set', {}],
    ...(['domain', 'clientId', 'clientSecret', 'secret'] as const).map((name): [string, IdpClientOptions] => [
      `without ${name}`,
      { ...complete, [name]: undefined },
    ]),
    ['weak secret', { ...complete, secret: 'too short' }],
    ['one repeated character', { ...complete, secret: 'a'.repeat(64) }],
  ]

  test.each(faults)('[S249,S250,S251,S252,S253,S254] %s', async (_, options) => {
    vi.stubEnv('NODE_ENV', 'production')
    const events: LogEvent[] = []
    const client = new IdpClient({ ...options, logger: (event) => events.push(event) })
    const warnings = events.filter(({ code }) => code === 'CONFIGURATION')
    expect(warnings).toHaveLength(1)

    const request = new Request('https://app.example.com/x')
    const wrong = expect.objectContaining({
      name: 'InvalidConfigurationError',
      code: 'INVALID_CONFIGURATION',
    })
    await expect(client.getSession(request)).rejects.toEqual(wrong)
    await expect(client.getAccessToken(request)).rejects.toEqual(wrong)
    await expect(client.startInteractiveLogin({}, request)).rejects.toEqual(wrong)
    const page = await client.withPageAuthRequired(() => new Response('secret'))(request)
    expect([page.status, page.headers.get('location')]).toEqual([500, null])
    expect(await page.text()).toMatch(/^<!doctype html>(?!.*secret).*not set up correctly/s)
    const api = await client.withApiAuthRequired(() => new Response('secret'))(request)
    expect(api.status).toBe(500)
    expect(await api.text()).not.toContain('secret-of-client')
    for (const path of ['/auth/login', '/auth/logout', '/auth/callback?state=x&code=y', '/auth/profile']) {
      const response = await client.middleware(new Request(`https://app.example.com${path}`))
      expect(response.status).toBe(500)
      expect(response.headers.getSetCookie()).toEqual([])
      expect(await response.text()).not.toMatch(/IDP_|clientSecret|at .*\(/)
    }
    expect(isContinue(await client.middleware(request))).toBe(true)
  })

  test('[S001] variables that are set after construction are read', async () => {
    const client = new IdpClient({ logger: () => {} })
    await expect(client.getSession(new Request(APP))).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    vi.stubEnv('IDP_DOMAIN', 'idp.example.com')
    vi.stubEnv('IDP_CLIENT_ID', 'client')
    vi.stubEnv('IDP_CLIENT_SECRET', 'x')
    vi.stubEnv('IDP_SECRET', SECRET)
    expect(await client.getSession(new Request(APP))).toBeNull()
  })

  test('[S003,S023,S026,S028,S043,S046] every required option can come from variables', async () => {
    vi.stubEnv('IDP_DOMAIN', world.provider.issuer)
    vi.stubEnv('IDP_CLIENT_ID', world.provider.clientId)
    vi.stubEnv('IDP_CLIENT_SECRET', world.provider.clientSecret)
    vi.stubEnv('IDP_SECRET', SECRET)
    vi.stubEnv('APP_BASE_URL', APP)
    const { browser, client } = world.another({
      domain: undefined,
      clientId: undefined,
      clientSecret: undefined,
      secret: undefined,
      appBaseUrl: undefined,
    })
    await world.login(browser)
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
  })
})

describe('the base URL', () => {
  const host = (name: string, extra: Record<string, string> = {}) => ({ headers: { host: name, ...extra } })
  const redirectUri = async (client: IdpClient, init: RequestInit, url = APP) => {
    const response = await client.middleware(new Request(`${url}/auth/login`, init))
    const location = response.headers.get('location')
    return { response, uri: location === null ? null : new URL(location).searchParams.get('redirect_uri') }
  }

  test('[S038] a fixed one does not depend on the request, and cookies follow it', async () => {
    const { client } = world.another({ appBaseUrl: 'https://app.example.com' })
    const spoof = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    }
    const { response, uri } = await redirectUri(client, host('evil.example', spoof))
    expect(uri).toBe('https://app.example.com/auth/callback')
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure/)
  })

  test('[S039,S040,S041,S044] from a list it is the matching entry, otherwise 400 without cookie or redirect', async () => {
    vi.stubEnv('APP_BASE_URL', 'https://a.example.com, https://b.example.com/shop')
    const { client } = world.another({ appBaseUrl: undefined })
    const https = { 'x-forwarded-proto': 'https' }
    expect((await redirectUri(client, host('a.example.com', https))).uri).toBe(
      'https://a.example.com/auth/callback',
    )
    expect((await redirectUri(client, host('b.example.com', https))).uri).toBe(
      'https://b.example.com/shop/auth/callback',
    )
    const hostile = [
      'evil.example',
      'a.example.com.evil.example',
      'xa.example.com',
      'a.example.com:8443',
      'user@a.example.com',
      'a.example.com.',
      'а.example.com',
      'a.example.com/x',
      'a.example.com,evil',
      '',
    ]
    for (const name of hostile) {
      const headers = new Headers(https)
      try {
        headers.set('host', name)
      } catch {
        continue
      }
      const { response } = await redirectUri(client, { headers }, 'https://unlisted.example')
      expect(response.status, name).toBe(400)
      expect(response.headers.getSetCookie()).toEqual([])
      expect(response.headers.get('location')).toBeNull()
      expect(isContinue(await client.middleware(new Request('https://unlisted.example/', { headers })))).toBe(
        true,
      )
      const started = client.startInteractiveLogin({}, new Request('https://unlisted.example/', { headers }))
      await expect(started).rejects.toMatchObject({ name: 'InvalidConfigurationError' })
    }
  })

  test('[S042] an inferred one is that of each request, independent of earlier ones', async () => {
    const { client } = world.another({ appBaseUrl: undefined, trustProxy: false })
    const forwarded = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    expect((await redirectUri(client, host('evil.example'), 'http://evil.example')).uri).toBe(
      'http://evil.example/auth/callback',
    )
    expect((await redirectUri(client, host('localhost:3000', forwarded))).uri).toBe(`${APP}/auth/callback`)
  })

  test('[S239] an inferred one in production requires https and Secure', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { provider, fetch } = await startSecureProvider()
    const client = new IdpClient({
      ...complete,
      domain: provider.issuer,
      appBaseUrl: undefined,
      logger: () => {},
      [customFetch]: fetch,
    })
    const { response, uri } = await redirectUri(
      client,
      host('app.example.com', { 'x-forwarded-proto': 'http' }),
    )
    expect(uri).toBe('https://app.example.com/auth/callback')
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure/)
    await provider.stop()
  })

  test('[S246,S247] an inferred one in production with secure: false is rejected', () => {
    vi.stubEnv('NODE_ENV', 'production')
    const make = (options: IdpClientOptions) => () =>
      new IdpClient({ ...complete, appBaseUrl: undefined, logger: () => {}, ...options })
    const wrong = expect.objectContaining({ name: 'InvalidConfigurationError' })
    expect(make({ session: { cookie: { secure: false } } })).toThrow(wrong)
    expect(make({ transactionCookie: { secure: false } })).toThrow(wrong)
    expect(make({})).not.toThrow()
  })
})

describe('plain http to the provider', () => {
  test('[S058] is rejected by default', () => {
    expect(() => world.another({ allowInsecureRequests: false })).toThrow(
      expect.objectContaining({ name: 'InvalidConfigurationError' }),
    )
  })

  test('[S060] in production it is rejected despite the option', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(() => world.another({ allowInsecureRequests: true })).toThrow(
      expect.objectContaining({ name: 'InvalidConfigurationError' }),
    )
  })

  test('[S059] outside production the option allows it', async () => {
    expect((await world.login(world.newBrowser())).status).toBe(302)
  })
})

test('[S024] domain means the same with and without https://', async () => {
  for (const domain of ['idp.invalid', 'https://idp.invalid', 'https://idp.invalid/']) {
    const seen: string[] = []
    const client = new IdpClient({
      ...complete,
      domain,
      logger: () => {},
      [customFetch]: async (input: string | URL | Request) => {
        seen.push(String(input instanceof Request ? input.url : input))
        throw new TypeError('offline')
      },
    })
    await client.middleware(new Request('https://app.example.com/auth/login'))
    expect(seen).toEqual(['https://idp.invalid/.well-known/openid-configuration'])
  }
})
