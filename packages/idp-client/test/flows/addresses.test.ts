import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.events.length = 0
})
afterEach(() => {
  vi.unstubAllEnvs()
  // Each test is a process of its own: notices come once in each.
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined
})

const notices = (): string[] =>
  world.events.flatMap((event) => (event.code === 'NOTICE' ? [event.message] : []))

interface Asked {
  readonly options: IdpClientOptions
  readonly url?: string
  readonly headers?: Record<string, string>
}

/** The redirect URI of a login that is begun there; null when the login is refused. */
async function redirectUri({
  options,
  url = 'http://inside:3000',
  headers = {},
}: Asked): Promise<string | null> {
  const { client } = world.another(options)
  const host = new URL(url).host
  const response = await client.middleware(
    new Request(`${url}/auth/login`, { headers: { host, ...headers } }),
  )
  const location = response.headers.get('location')
  return location === null ? null : new URL(location).searchParams.get('redirect_uri')
}

const outside = { 'x-forwarded-host': 'app.example.com', 'x-forwarded-proto': 'https' }
const inferred: IdpClientOptions = { appBaseUrl: undefined, trustProxy: false }

describe('[J6] forwarded headers without trustProxy', () => {
  test('are reported in one notice if they name another origin', async () => {
    for (let times = 0; times < 3; times++) {
      const uri = await redirectUri({ options: inferred, headers: outside })
      expect(uri).toBe('http://inside:3000/auth/callback')
    }
    expect(notices()).toEqual([expect.stringMatching(/trustProxy: true.*appBaseUrl \(APP_BASE_URL\)/)])
    expect(notices()[0]).not.toMatch(/inside|example\.com/)
  })

  test.each<[string, Record<string, string>]>([
    ['another host', { 'x-forwarded-host': 'app.example.com' }],
    ['another protocol', { 'x-forwarded-proto': 'https' }],
  ])('%s alone', async (_name, headers) => {
    await redirectUri({ options: inferred, headers })
    expect(notices()).toHaveLength(1)
  })

  test.each<[string, Asked]>([
    ['are not there', { options: inferred }],
    [
      'say the same',
      { options: inferred, headers: { 'x-forwarded-host': 'inside:3000', 'x-forwarded-proto': 'http' } },
    ],
    [
      'are no address',
      { options: inferred, headers: { 'x-forwarded-host': 'a b', 'x-forwarded-proto': 'ftp' } },
    ],
    ['are believed', { options: { ...inferred, trustProxy: true }, headers: outside }],
    ['do not matter', { options: { appBaseUrl: 'https://app.example.com' }, headers: outside }],
  ])('none when they %s', async (_name, asked) => {
    await redirectUri(asked)
    expect(notices()).toEqual([])
  })

  test('are not reported in production if they contain the assumed https', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const options = { ...inferred, domain: world.provider.issuer.replace('http:', 'https:') }
    const headers = { 'x-forwarded-host': 'app.example.com', 'x-forwarded-proto': 'https' }
    await redirectUri({ options, url: 'http://app.example.com', headers })
    expect(notices().filter((message) => message.includes('X-Forwarded'))).toEqual([])
    await redirectUri({ options, url: 'http://inside:3000', headers })
    expect(notices().filter((message) => message.includes('X-Forwarded'))).toHaveLength(1)
  })

  test('are reported with an allow-list, and an error names the origins, as do the log and the page in development', async () => {
    const options: IdpClientOptions = {
      appBaseUrl: ['https://app.example.com', 'https://b.example.com/shop'],
      trustProxy: false,
    }
    expect(await redirectUri({ options, headers: outside })).toBeNull()
    expect(notices()).toEqual([expect.stringContaining('trustProxy')])
    const { client } = world.another(options)
    const request = () => new Request('http://inside:3000/auth/login', { headers: { host: 'inside:3000' } })
    const refused = client.startInteractiveLogin({}, request())
    await expect(refused).rejects.toMatchObject({
      code: 'BASE_URL_NOT_ALLOWED',
      message: expect.stringContaining('Allowed: https://app.example.com, https://b.example.com/shop.'),
    })
    const response = await client.middleware(request())
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('https://b.example.com/shop')
    expect(world.events).toContainEqual(
      expect.objectContaining({
        code: 'LOGIN_FAILED',
        error: 'BASE_URL_NOT_ALLOWED',
        detail: expect.stringContaining('https://b.example.com/shop'),
      }),
    )
  })
})

describe('[N5] an inferred base URL with an internal address', () => {
  const INTERNAL = /internal network.*APP_BASE_URL/
  const internal = () => notices().filter((message) => INTERNAL.test(message))
  const options = () => ({ ...inferred, domain: world.provider.issuer.replace('http:', 'https:') })

  test.each<[string, string, Record<string, string>]>([
    ['a private address', 'http://10.0.0.5:3000', {}],
    ['a name without a domain', 'http://inside:3000', {}],
    ['a private IPv6 address', 'http://[fd00::5]:3000', {}],
    ['this machine, behind a proxy', 'http://127.0.0.1:3000', { 'x-forwarded-for': '192.0.2.1' }],
  ])('in production %s causes one notice', async (_name, url, headers) => {
    vi.stubEnv('NODE_ENV', 'production')
    for (let times = 0; times < 2; times++) await redirectUri({ options: options(), url, headers })
    expect(internal()).toHaveLength(1)
    expect(internal()[0]).not.toContain(new URL(url).hostname)
  })

  test.each<[string, string, string]>([
    ['a public address in production', 'production', 'http://app.example.com'],
    ['a public IP address in production', 'production', 'http://172.32.0.1'],
    ['a public IPv6 address in production', 'production', 'http://[2001:db8::1]'],
    ['a trial of the production build on this machine', 'production', 'http://localhost:3000'],
    ['development', 'development', 'http://10.0.0.5:3000'],
  ])('%s causes none', async (_name, environment, url) => {
    vi.stubEnv('NODE_ENV', environment)
    await redirectUri({ options: options(), url })
    expect(internal()).toEqual([])
  })

  test('a fixed base URL causes none', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    await redirectUri({
      options: { ...options(), appBaseUrl: 'https://app.example.com' },
      url: 'http://app:3000',
    })
    expect(internal()).toEqual([])
  })
})

describe('[E2] an https base URL with a server that receives http', () => {
  const options: IdpClientOptions = { appBaseUrl: 'https://localhost:3000' }

  test('causes one notice, because the callback does not reach the server', async () => {
    for (let times = 0; times < 2; times++) await redirectUri({ options, url: 'http://localhost:3000' })
    expect(notices()).toEqual([
      expect.stringMatching(/^appBaseUrl \(APP_BASE_URL\) is https, but .* plain http/),
    ])
  })

  test.each<[string, Asked]>([
    [
      'a proxy that says so',
      { options, url: 'http://localhost:3000', headers: { 'x-forwarded-proto': 'https' } },
    ],
    [
      'a proxy that says so as RFC 7239',
      { options, url: 'http://localhost:3000', headers: { forwarded: 'proto=https' } },
    ],
    ['an https server', { options, url: 'https://localhost:3000' }],
    ['another port inside', { options, url: 'http://localhost:8080' }],
    [
      'a proxy elsewhere, which need not say so',
      { options: { appBaseUrl: 'https://app.example.com' }, url: 'http://app.example.com' },
    ],
    [
      'http as configured',
      { options: { appBaseUrl: 'http://localhost:3000' }, url: 'http://localhost:3000' },
    ],
  ])('none for %s', async (_name, asked) => {
    await redirectUri(asked)
    expect(notices()).toEqual([])
  })
})

describe('[E3] NODE_ENV is not set', () => {
  test.each([undefined, 'staging', ''])(
    '%j: forwarded headers are ignored, plain http to the provider is allowed',
    async (value) => {
      vi.stubEnv('NODE_ENV', value)
      const options = { appBaseUrl: undefined }
      expect(await redirectUri({ options, headers: outside })).toBe('http://inside:3000/auth/callback')
      expect(notices()).toHaveLength(1)
      expect(await redirectUri({ options: { ...options, trustProxy: true }, headers: outside })).toBe(
        'https://app.example.com/auth/callback',
      )
    },
  )

  test.each(['development', 'test'])('%s: forwarded headers are used', async (value) => {
    vi.stubEnv('NODE_ENV', value)
    expect(await redirectUri({ options: { appBaseUrl: undefined }, headers: outside })).toBe(
      'https://app.example.com/auth/callback',
    )
  })

  test('failure pages show no more than in production', async () => {
    vi.stubEnv('NODE_ENV', undefined)
    const { client } = world.another({ appBaseUrl: ['https://app.example.com'], trustProxy: false })
    const response = await client.middleware(new Request('http://inside:3000/auth/login'))
    expect(response.status).toBe(400)
    expect(await response.text()).not.toContain('example.com')
    expect(JSON.stringify(world.events)).toContain('Allowed: https://app.example.com')
  })
})
