import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { AccessTokenError, customFetch, IdpClient } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { startSecureProvider } from '../support/secure-provider.ts'

let world: World
/** A provider without RP-initiated logout. */
let plain: World
beforeAll(async () => {
  world = await startWorld()
  plain = await startWorld({}, { endSession: false })
})
afterAll(async () => {
  await world.provider.stop()
  await plain.provider.stop()
})
beforeEach(() => {
  world.provider.clearRequests()
  world.events.length = 0
})
afterEach(() => vi.unstubAllEnvs())

const SITE = 'https://localhost:3000'

/** The cookies that a login with these options sets: its transaction and its session, by attribute. */
async function cookiesOf(options: IdpClientOptions = {}) {
  const { browser } = world.another(options)
  const url = await world.begin(browser)
  const transaction = [...browser.cookies].map(([name, { text }]) => attributesOf(name, text))
  await browser.send(await world.authorize(url))
  const session = [...browser.cookies].map(([name, { text }]) => attributesOf(name, text))
  return { transaction: transaction[0] ?? {}, session: session[0] ?? {} }
}

function attributesOf(name: string, text: string): Record<string, string | true> {
  const [, ...attributes] = text.split(/;\s*/)
  const pairs = attributes.map((attribute) => {
    const [key = '', value] = attribute.split('=')
    return [key.toLowerCase(), value ?? true] as const
  })
  return { name, ...Object.fromEntries(pairs) }
}

const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)

describe('client and provider', () => {
  test('[S022,S025,S035,S038,S096] the browser is redirected to the provider, with this client id and the default scope', async () => {
    const { browser } = world.another({ authorizationParameters: { ui_locales: 'de' } })
    const url = await world.begin(browser)
    expect(url.startsWith(`${world.provider.issuer}/`)).toBe(true)
    expect(parametersOf(url)).toMatchObject({
      client_id: world.provider.clientId,
      redirect_uri: `${APP}/auth/callback`,
      scope: 'openid profile email offline_access',
      ui_locales: 'de',
    })
  })

  test('[S027] the client secret authenticates the token request; a wrong one creates no session', async () => {
    await world.login(world.newBrowser())
    const { clientId, clientSecret } = world.provider
    const basic = String(world.provider.requests('token')[0]?.headers['authorization'] ?? '')
    expect(decodeURIComponent(atob(basic.replace('Basic ', '')))).toBe(`${clientId}:${clientSecret}`)
    const { browser, client } = world.another({ clientSecret: 'wrong' })
    expect((await world.login(browser)).status).toBe(502)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('[S097] a given scope is sent; null means the default', async () => {
    const scopeOf = async (scope: string | null) => {
      const { browser } = world.another({ authorizationParameters: { scope } })
      return parametersOf(await world.begin(browser))['scope']
    }
    expect(await scopeOf('openid  read:things')).toBe('openid  read:things')
    expect(await scopeOf(null)).toBe('openid profile email offline_access')
  })

  test('[S060] in production allowInsecureRequests has no effect: endpoints on http are not used', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const { provider, fetch } = await startSecureProvider()
    const login = async () => {
      const client = new IdpClient({
        domain: provider.issuer,
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        secret: SECRET,
        appBaseUrl: SITE,
        allowInsecureRequests: true,
        logger: () => {},
        [customFetch]: (input, init) => fetch(input, init),
      })
      return client.middleware(new Request(`${SITE}/auth/login`))
    }
    expect((await login()).status).toBe(302)
    provider.rewrite('discovery', (json) => ({
      ...json,
      authorization_endpoint: String(json['authorization_endpoint']).replace('https:', 'http:'),
    }))
    const refused = await login()
    expect(refused.status).toBe(502)
    expect(refused.headers.get('location')).toBeNull()
    await provider.stop()
  })

  test('[S045,S047,S232,S233] cookies can be decrypted with their secret only', async () => {
    const { browser, client } = world.another({ secret: SECRET })
    await world.login(browser)
    const callback = await world.authorize(await world.begin(browser))
    const request = browser.request(callback, { headers: { accept: 'application/json' } })
    const other = world.another({ secret: 'f'.repeat(32) + SECRET.slice(32) }).client
    expect(await client.getSession(request)).not.toBeNull()
    expect(await other.getSession(request)).toBeNull()
    expect(await (await other.middleware(request.clone())).json()).toMatchObject({
      error: { code: 'UNKNOWN_STATE' },
    })
    expect((await client.middleware(request)).status).toBe(302)
  })
})

describe('base URL and secret', () => {
  const callbackOf = async (client: IdpClient, url: string) => {
    const { host } = new URL(url)
    const response = await client.middleware(new Request(`${url}/auth/login`, { headers: { host } }))
    const location = response.headers.get('location')
    return location === null ? response.status : (parametersOf(location)['redirect_uri'] ?? null)
  }

  test.each(['option', 'variable'])(
    '[S039,S040,S041,S044] a list by %s: the matching entry, or 400',
    async (by) => {
      const list = ['http://one.example', 'http://two.example:8080/shop']
      if (by === 'variable') vi.stubEnv('APP_BASE_URL', list.join(' , '))
      const { client } = world.another({ appBaseUrl: by === 'variable' ? undefined : list })
      expect(await callbackOf(client, 'http://one.example')).toBe('http://one.example/auth/callback')
      expect(await callbackOf(client, 'http://two.example:8080')).toBe(
        'http://two.example:8080/shop/auth/callback',
      )
      for (const other of ['http://two.example', 'http://one.example:8080', 'http://three.example']) {
        expect(await callbackOf(client, other)).toBe(400)
      }
    },
  )

  test('[S042,S255] without a base URL the host of each request is used, and nothing is reported as missing', async () => {
    const { client } = world.another({ appBaseUrl: undefined })
    expect(world.events.filter(({ code }) => code === 'CONFIGURATION')).toEqual([])
    for (const url of ['http://one.example', 'http://two.example:8080', 'https://three.example']) {
      expect(await callbackOf(client, url)).toBe(`${url}/auth/callback`)
    }
  })

  test('[S047,S256] 32 characters and 64 digits both work; a shorter secret is reported and not used', async () => {
    for (const secret of ['exactly 32 characters, not more.', SECRET]) {
      const { browser, client } = world.another({ secret })
      await world.login(browser)
      expect(await client.getSession(browser.request('/'))).not.toBeNull()
    }
    expect(world.events.filter(({ code }) => code === 'CONFIGURATION')).toEqual([])
    const { client } = world.another({ secret: 'a secret of 31 characters, so 1' })
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'CONFIGURATION', message: expect.stringContaining('secret') }),
    )
    await expect(client.getSession(new Request(APP))).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
  })
})

describe('session cookie', () => {
  test('[S049,S075,S077,S078,S081,S083,S085,S087,S089] has default attributes, on http and on https', async () => {
    const attributes = {
      name: '__session',
      'max-age': '86400',
      path: '/',
      httponly: true,
      samesite: 'Lax',
    }
    expect((await cookiesOf()).session).toEqual(attributes)
    expect((await cookiesOf({ appBaseUrl: SITE })).session).toEqual({ ...attributes, secure: true })
  })

  test('[S049,S074] absoluteDuration is three days if only the other option is set', async () => {
    const { session } = await cookiesOf({ session: { inactivityDuration: 34_000_000 } })
    expect(session['max-age']).toBe('259200')
  })

  test('[S073] rolls by default', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const before = world.clock.now
    world.clock.now += 3600
    const cookies = (await browser.send('/page')).headers.getSetCookie()
    world.clock.now = before
    expect(cookies).toEqual([expect.stringMatching(/^__session=.*Max-Age=86400/)])
  })

  test('[S077,S079,S081,S083,S085,S087,S089] has the attributes of the options, and always HttpOnly', async () => {
    const { session } = await cookiesOf({
      session: {
        cookie: {
          name: 'app',
          secure: true,
          sameSite: 'none',
          path: '/auth',
          domain: 'localhost',
          transient: true,
          ...{ httpOnly: false },
        },
      },
    })
    expect(session).toEqual({
      name: 'app',
      secure: true,
      samesite: 'None',
      path: '/auth',
      domain: 'localhost',
      httponly: true,
    })
    expect((await cookiesOf({ session: { cookie: { sameSite: 'strict' } } })).session['samesite']).toBe(
      'Strict',
    )
  })

  test('[S080,S082,S084,S086,S088] has the attributes of the variables if no option is set', async () => {
    vi.stubEnv('IDP_COOKIE_SECURE', 'true')
    vi.stubEnv('IDP_COOKIE_SAME_SITE', 'strict')
    vi.stubEnv('IDP_COOKIE_PATH', '/auth')
    vi.stubEnv('IDP_COOKIE_DOMAIN', 'localhost')
    vi.stubEnv('IDP_COOKIE_TRANSIENT', 'true')
    const attributes = { secure: true, samesite: 'Strict', path: '/auth', domain: 'localhost' }
    expect((await cookiesOf()).session).toEqual({ name: '__session', httponly: true, ...attributes })
    const cookie = { secure: false, sameSite: 'lax', path: '/', transient: false } as const
    expect((await cookiesOf({ session: { cookie } })).session).toEqual({
      name: '__session',
      httponly: true,
      samesite: 'Lax',
      path: '/',
      domain: 'localhost',
      'max-age': '86400',
    })
  })

  test('[S076,S095] rollingDuration and duration are not options: reported, without effect', async () => {
    const { session, transaction } = await cookiesOf({
      session: { rolling: true, ...{ rollingDuration: 60 } },
      transactionCookie: { path: '/', ...{ duration: 60 } },
    })
    expect(session['max-age']).toBe('86400')
    expect(transaction['max-age']).toBe('3600')
    const notices = world.events.flatMap((event) => (event.code === 'NOTICE' ? [event.message] : []))
    expect(notices).toEqual([
      expect.stringContaining('inactivityDuration'),
      expect.stringContaining('maxAge'),
    ])
  })
})

describe('transaction cookie', () => {
  test('[S050,S090,S091,S092,S093,S094] has defaults that no variable changes', async () => {
    const expected = {
      name: expect.stringMatching(/^__txn_[\w-]{16,}$/),
      'max-age': '3600',
      path: '/',
      httponly: true,
      samesite: 'Lax',
    }
    expect((await cookiesOf()).transaction).toEqual(expected)
    for (const name of ['SECURE', 'TRANSIENT']) vi.stubEnv(`IDP_COOKIE_${name}`, 'true')
    vi.stubEnv('IDP_COOKIE_SAME_SITE', 'strict')
    vi.stubEnv('IDP_COOKIE_PATH', '/auth')
    vi.stubEnv('IDP_COOKIE_DOMAIN', 'localhost')
    expect((await cookiesOf()).transaction).toEqual(expected)
    expect((await cookiesOf({ appBaseUrl: SITE })).transaction).toEqual({ ...expected, secure: true })
  })

  test('[S050,S090,S091,S092,S093,S094] has the attributes of the options', async () => {
    const { transaction } = await cookiesOf({
      transactionCookie: { prefix: 'login_', secure: true, sameSite: 'none', path: '/auth' },
    })
    expect(transaction).toEqual({
      name: expect.stringMatching(/^login_/),
      'max-age': '3600',
      secure: true,
      samesite: 'None',
      path: '/auth',
      httponly: true,
    })
    expect((await cookiesOf({ transactionCookie: { maxAge: 60 } })).transaction['max-age']).toBe('60')
  })

  test('[S051] each login has its own cookie, named by a hash of its state, and all of them complete', async () => {
    const browser = world.newBrowser()
    const urls = [await world.begin(browser), await world.begin(browser), await world.begin(browser)]
    const suffixes = browser.names('__txn_').map((name) => name.slice('__txn_'.length))
    expect(new Set(suffixes).size).toBe(3)
    const states = urls.map((url) => parametersOf(url)['state'] ?? '')
    for (const suffix of suffixes) expect(states.join(' ')).not.toContain(suffix)
    for (const url of urls.reverse()) {
      expect((await browser.send(await world.authorize(url))).status).toBe(302)
    }
  })

  test('[S136] a login that completes after maxAge fails', async () => {
    const { browser } = world.another({ transactionCookie: { maxAge: 60 } })
    const [early, late] = [await world.begin(browser), await world.begin(browser)]
    const [first, second] = [await world.authorize(early), await world.authorize(late)]
    const before = world.clock.now
    world.clock.now += 59
    expect((await browser.send(first)).status).toBe(302)
    world.clock.now += 1
    const browserWithoutSession = world.another({ transactionCookie: { maxAge: 60 } }).browser
    for (const [name, cookie] of browser.cookies) {
      if (name.startsWith('__txn_')) browserWithoutSession.cookies.set(name, cookie)
    }
    const response = await browserWithoutSession.send(second, { headers: { accept: 'application/json' } })
    world.clock.now = before
    expect(await response.json()).toMatchObject({ error: { code: 'EXPIRED_STATE' } })
  })
})

describe('logout', () => {
  async function leaves(on: World, options: IdpClientOptions) {
    const { browser, client } = on.another(options)
    await on.login(browser)
    const session = await client.getSession(browser.request('/'))
    const location = new URL((await browser.send('/auth/logout')).headers.get('location') ?? '')
    expect(await client.getSession(browser.request('/'))).toBeNull()
    return { location, session, parameters: Object.fromEntries(location.searchParams) }
  }

  test('[S054,S122,S123] auto, the default, is OIDC if it is advertised, otherwise /v2/logout', async () => {
    for (const options of [{}, { logoutStrategy: 'auto' }] as const) {
      const { location } = await leaves(world, options)
      expect(location.pathname).toBe('/oidc/logout')
      expect((await leaves(plain, options)).location.pathname).toBe('/v2/logout')
    }
    const wrong = () => world.another({ logoutStrategy: 'v1' as 'v2' })
    expect(wrong).toThrow(expect.objectContaining({ name: 'InvalidConfigurationError' }))
  })

  test('[S124,S125] oidc never uses /v2/logout: without RP-initiated logout the browser stays, which is reported', async () => {
    expect((await leaves(world, { logoutStrategy: 'oidc' })).location.pathname).toBe('/oidc/logout')
    plain.events.length = 0
    const { location } = await leaves(plain, { logoutStrategy: 'oidc' })
    expect(location.href).toBe(`${APP}/`)
    expect(plain.events).toContainEqual(expect.objectContaining({ code: 'LOGOUT', strategy: 'local' }))
  })

  test('[S128,S129] the ID token is sent as a hint, unless that is disabled', async () => {
    const { client_id, post_logout_redirect_uri, ...hints } = (await leaves(world, {})).parameters
    expect({ client_id, post_logout_redirect_uri }).toEqual({
      client_id: world.provider.clientId,
      post_logout_redirect_uri: APP,
    })
    expect(Object.keys(hints).sort()).toEqual(['id_token_hint', 'logout_hint'])
    const off = await leaves(world, { includeIdTokenHintInOIDCLogoutUrl: false })
    expect(off.parameters).toEqual({
      client_id,
      post_logout_redirect_uri,
      logout_hint: off.session?.internal.sid,
    })
  })
})

describe('operations', () => {
  test('[S161,S162,S163] getSession accepts the request and returns its session', async () => {
    const browser = world.newBrowser()
    expect(await world.client.getSession(browser.request('/'))).toBeNull()
    await world.login(browser)
    expect(await world.client.getSession(browser.request('/'))).toMatchObject({
      user: { sub: 'dev|alice' },
      tokenSet: { accessToken: expect.any(String) },
    })
  })

  test('[S171] getAccessToken without a session throws an AccessTokenError, which is exported, with its code', async () => {
    const error: unknown = await world.client
      .getAccessToken(new Request(APP))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AccessTokenError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code: 'MISSING_SESSION' })
  })
})

describe('guards', () => {
  test('[S206,S207] no invalid cookie opens a page or reaches a handler', async () => {
    const reached: string[] = []
    const page = world.client.withPageAuthRequired(() => {
      reached.push('page')
      return new Response('page')
    })
    const api = world.client.withApiAuthRequired(() => {
      reached.push('api')
      return Response.json('api')
    })
    const foreign = world.another({ secret: 'another secret of 32 characters.' }).browser
    await world.login(foreign)
    const forged = [
      '',
      '__session=x',
      '__session=a.b.c.d.e',
      foreign.request('/').headers.get('cookie') ?? '',
    ]
    for (const cookie of forged) {
      const request = () => new Request(`${APP}/orders`, { headers: { cookie } })
      expect((await page(request())).headers.get('location')).toBe('/auth/login?returnTo=%2Forders')
      expect((await api(request())).status).toBe(401)
    }
    expect(reached).toEqual([])
    const browser = world.newBrowser()
    await world.login(browser)
    expect(await (await page(browser.request('/orders'))).text()).toBe('page')
    expect(await (await api(browser.request('/orders'))).json()).toBe('api')
  })
})
