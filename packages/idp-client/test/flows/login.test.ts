import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isIdpError } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { incompressible } from '../support/incompressible.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.clearRequests()
  world.events.length = 0
})

const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)

test('[I1] client and provider share one clock, which a test moves', async () => {
  const { clock, provider } = world
  const before = clock.now
  clock.now += 3600
  expect(provider.clock.now()).toBe(clock.now)
  expect((await world.login(world.newBrowser())).status).toBe(302)
  clock.now = before
  expect(provider.clock.now()).toBe(before)
})

describe('a login', () => {
  test('[S009,S010,S012,S013,S158,S162,S231] login, callback, session, profile', async () => {
    const browser = world.newBrowser()
    const response = await world.login(browser, '?returnTo=/orders%3Fpage%3D2%23top')
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(`${APP}/orders?page=2#top`)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(browser.names('__txn_')).toEqual([])
    const session = await world.client.getSession(browser.request('/'))
    expect(session?.user).toMatchObject({
      sub: expect.any(String),
      name: expect.any(String),
      email: expect.any(String),
    })
    expect(session?.tokenSet).toMatchObject({
      accessToken: expect.any(String),
      idToken: expect.any(String),
      refreshToken: expect.any(String),
      token_type: 'Bearer',
    })
    expect(session?.internal).toEqual({ sid: expect.any(String), createdAt: world.clock.now })
    const profile = await browser.send('/auth/profile')
    expect(profile.status).toBe(200)
    expect(profile.headers.get('content-type')).toBe('application/json')
    expect(await profile.json()).toEqual(session?.user)
    expect(world.events.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['LOGIN_STARTED', 'SESSION_SAVED', 'LOGIN_COMPLETED']),
    )
  })

  test('[S014] user has every claim except those of the protocol', async () => {
    const browser = world.newBrowser()
    await world.login(browser, '', { user: 'bob' })
    const user = (await world.client.getSession(browser.request('/')))?.user ?? { sub: '' }
    for (const name of ['iss', 'aud', 'exp', 'iat', 'nonce', 'at_hash', 'sid', 'auth_time', 'azp']) {
      expect(user).not.toHaveProperty(name)
    }
    expect(user['https://example.test/groups']).toHaveLength(60)
  })

  test('[S025,S035,S038,S096] sends the authorization request', async () => {
    const url = await world.begin(world.newBrowser())
    const sent = parametersOf(url)
    expect(sent).toEqual({
      client_id: world.provider.clientId,
      redirect_uri: `${APP}/auth/callback`,
      response_type: 'code',
      scope: 'openid profile email offline_access',
      state: expect.stringMatching(/^[\w-]{43}\./),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const again = parametersOf(await world.begin(world.newBrowser()))
    for (const name of ['state', 'nonce', 'code_challenge']) expect(again[name]).not.toBe(sent[name])
  })

  test('parameters of the query are sent, but never protocol parameters', async () => {
    const owned = ['client_id', 'response_type', 'code_challenge', 'code_challenge_method', 'state', 'nonce']
    const configured = [
      'redirect_uri',
      'response_mode',
      'request',
      'request_uri',
      'dpop_jkt',
      'resource',
      'claims',
    ]
    const hostile = [...owned, ...configured, 'client_secret', 'client_assertion'].map(
      (name) => `${name}=evil`,
    )
    const query = `?${hostile.join('&')}&screen_hint=signup&login_hint=a%26b&ui_locales=de&ui_locales=fr`
    const sent = new URL(await world.begin(world.newBrowser(), query)).searchParams
    expect([...sent.values()]).not.toContain('evil')
    expect(new Set(sent.keys()).size).toBe([...sent.keys()].length)
    expect(sent.get('screen_hint')).toBe('signup')
    expect(sent.get('login_hint')).toBe('a&b')
    expect(sent.get('ui_locales')).toBe('fr')
    for (const name of configured.slice(1)) expect(sent.has(name)).toBe(false)
  })

  test.each(['abc', '-1', '1.5', '%00', ''])('max_age=%s in the query: 400', async (value) => {
    const browser = world.newBrowser()
    const response = await browser.send(`/auth/login?max_age=${value}`)
    expect(response.status).toBe(400)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(browser.cookies.size).toBe(0)
  })

  test('[S100,S101] max_age is sent, and an older authentication is rejected', async () => {
    const browser = world.newBrowser()
    const url = await world.begin(browser, '?max_age=30')
    expect(parametersOf(url)['max_age']).toBe('30')
    const forget = world.provider.tamperIdToken((claims) => {
      claims['auth_time'] = world.clock.now - 3600
    })
    const response = await browser.send(await world.authorize(url))
    forget()
    expect(response.status).toBe(502)
    expect(await world.client.getSession(browser.request('/'))).toBeNull()
    const fresh = world.newBrowser()
    expect((await world.login(fresh, '?max_age=0')).status).toBe(302)
    expect(await world.client.getSession(fresh.request('/'))).not.toBeNull()
  })

  test('challengeMode other than redirect or popup: 400', async () => {
    expect((await world.newBrowser().send('/auth/login?challengeMode=iframe')).status).toBe(400)
    expect((await world.newBrowser().send('/auth/login?challengeMode=redirect')).status).toBe(302)
  })

  test('a page guard leaves out a path that the login would ignore: the address could be too long', async () => {
    const locationOf = async (path: string) =>
      (await world.client.requireLogin(new Request(APP + path))).response?.headers.get('location')
    const longest = `/${'a'.repeat(2047)}`
    expect(await locationOf(longest)).toBe(`/auth/login?returnTo=${encodeURIComponent(longest)}`)
    expect(await locationOf(`${longest}a`)).toBe('/auth/login')
  })

  test('[S048] a login without returnTo redirects to signInReturnToPath', async () => {
    const { browser } = world.another({ signInReturnToPath: '/welcome?first=1' })
    expect((await world.login(browser)).headers.get('location')).toBe(`${APP}/welcome?first=1`)
    expect((await world.login(world.newBrowser())).headers.get('location')).toBe(`${APP}/`)
  })

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    'http://localhost:3000@evil.example/',
    'https://localhost:3000/',
    'http://localhost:3001/',
  ])('returnTo %j never leaves the origin', async (hostile) => {
    const response = await world.login(world.newBrowser(), `?returnTo=${encodeURIComponent(hostile)}`)
    expect(new URL(response.headers.get('location') ?? '').origin).toBe(APP)
  })

  test('[S099] redirect_uri is used byte for byte in the authorization and the token request', async () => {
    for (const redirectUri of [`${APP}/auth/callback?tenant=a%20b&x=`, `${APP}/auth/callback`]) {
      world.provider.clearRequests()
      const { browser, client } = world.another({ authorizationParameters: { redirect_uri: redirectUri } })
      const url = await world.begin(browser)
      expect(parametersOf(url)['redirect_uri']).toBe(redirectUri)
      expect((await browser.send(await world.authorize(url))).status).toBe(302)
      expect(world.provider.requests('token')[0]?.body['redirect_uri']).toBe(redirectUri)
      expect(await client.getSession(browser.request('/'))).not.toBeNull()
    }
  })

  test('redirect_uri on another origin, or with a fragment, is a configuration error', async () => {
    const { client } = world
    for (const redirect_uri of [
      'https://evil.example/auth/callback',
      `${APP}/auth/callback#x`,
      '/auth/callback',
      `blob:${APP}/auth/callback`,
      ` ${APP}/auth/callback`,
    ]) {
      const started = client.startInteractiveLogin(
        { authorizationParameters: { redirect_uri } },
        new Request(APP),
      )
      await expect(started).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    }
  })

  test('[S098,S102,S103] audience, organization and any other configured parameter are sent', async () => {
    const { browser } = world.another({
      authorizationParameters: { audience: 'https://api.example.test/', organization: 'acme', theme: 'dark' },
    })
    expect(parametersOf(await world.begin(browser))).toMatchObject({
      audience: 'https://api.example.test/',
      organization: 'acme',
      theme: 'dark',
    })
  })

  test('a token for another organization than the requested one is rejected', async () => {
    const browser = world.newBrowser()
    const remove = world.provider.tamperIdToken((claims) => {
      claims['org_id'] = 'org_other'
      claims['org_name'] = 'other'
    })
    const response = await world.login(browser, '?organization=acme')
    remove()
    expect(response.status).toBe(502)
    expect(await world.client.getSession(browser.request('/'))).toBeNull()
    expect((await world.login(browser, '?organization=acme')).status).toBe(302)
  })

  test('several clients of one process request metadata and keys once', async () => {
    const fresh = await startWorld()
    const others = [fresh.another(), fresh.another(), fresh.another()]
    for (const { browser } of others) expect((await fresh.login(browser)).status).toBe(302)
    await Promise.all(Array.from({ length: 20 }, () => fresh.login(fresh.newBrowser())))
    expect(fresh.provider.count('discovery')).toBe(1)
    expect(fresh.provider.count('jwks')).toBe(1)
    await fresh.provider.stop()
  })

  test('[S027] the code is sent once, by POST, with one client authentication and nothing in the URL', async () => {
    await world.login(world.newBrowser())
    const [token, ...more] = world.provider.requests('token')
    expect(more).toEqual([])
    expect(token?.method).toBe('POST')
    expect(new URL(token?.url ?? '', APP).search).toBe('')
    expect(Object.keys(token?.body ?? {}).sort()).toEqual([
      'code',
      'code_verifier',
      'grant_type',
      'redirect_uri',
    ])
    expect(token?.headers['authorization']).toMatch(/^Basic /)
  })

  test('[S062,S063] telemetry sends name and version, or nothing', async () => {
    await world.login(world.newBrowser())
    const header = world.provider.requests('token')[0]?.headers['idp-client'] ?? ''
    expect(JSON.parse(Buffer.from(String(header), 'base64url').toString())).toEqual({
      name: 'idp-client',
      version: expect.any(String),
    })
    world.provider.clearRequests()
    await world.login(world.another({ enableTelemetry: false }).browser)
    const { headers } = world.provider.requests('token')[0] ?? { headers: {} }
    expect(headers).not.toHaveProperty('idp-client')
    expect(JSON.stringify(headers)).not.toMatch(/oauth4webapi/)
  })
})

describe('startInteractiveLogin', () => {
  test('[S189,S190,S225] works without options, with a request, parameters and returnTo', async () => {
    const { client, provider } = world
    const browser = world.newBrowser()
    const plain = browser.store(await client.startInteractiveLogin(undefined, browser.request('/')))
    expect(plain.headers.get('location')).toContain(`${provider.issuer}/`)
    const response = browser.store(
      await client.startInteractiveLogin(
        { returnTo: '/deep', authorizationParameters: { login_hint: 'alice', max_age: 60 } },
        browser.request('/'),
      ),
    )
    const location = response.headers.get('location') ?? ''
    expect(parametersOf(location)).toMatchObject({ login_hint: 'alice', max_age: '60' })
    const done = await browser.send(await world.authorize(location))
    expect(done.headers.get('location')).toBe(`${APP}/deep`)
  })

  test('[S190] with an inferred base URL it requires a request, or the current one', async () => {
    const { client } = world.another({ appBaseUrl: undefined })
    await expect(client.startInteractiveLogin()).rejects.toMatchObject({ code: 'AMBIENT_REQUEST_MISSING' })
    const request = new Request('http://localhost:3000/x', { headers: { host: 'localhost:3000' } })
    const response = await client.middleware(request, () => client.startInteractiveLogin())
    expect(parametersOf(response.headers.get('location') ?? '')['redirect_uri']).toBe(`${APP}/auth/callback`)
    expect(response.headers.getSetCookie()).toHaveLength(1)
  })

  test('max_age: null leaves the configured one', async () => {
    const { client } = world.another({ authorizationParameters: { max_age: 60 } })
    const options = { authorizationParameters: { max_age: null } }
    const response = await client.startInteractiveLogin(options, new Request(APP))
    expect(parametersOf(response.headers.get('location') ?? '')['max_age']).toBe('60')
  })

  test('invalid options are typed errors', async () => {
    const request = new Request(APP)
    for (const options of [
      { challengeMode: 'window' as 'popup' },
      { authorizationParameters: { max_age: -1 } },
      { authorizationParameters: { max_age: 1.5 } },
    ]) {
      const error: unknown = await world.client
        .startInteractiveLogin(options, request)
        .catch((thrown: unknown) => thrown)
      expect(isIdpError(error, 'INVALID_CONFIGURATION')).toBe(true)
    }
  })
})

describe('form_post', () => {
  test.each([
    ['configuration', { response_mode: 'form_post' }, {}],
    ['call', {}, { response_mode: 'form_post' }],
  ])(
    'requested by the %s, it is a cross-site POST, which the transaction cookie allows',
    async (_, ours, own) => {
      const { browser, client } = world.another({
        appBaseUrl: 'https://localhost:3000',
        authorizationParameters: ours,
      })
      const started = await client.startInteractiveLogin(
        { authorizationParameters: own },
        browser.request('/'),
      )
      const url = browser.store(started).headers.get('location') ?? ''
      const [transaction] = browser.names('__txn_')
      expect(browser.cookies.get(transaction ?? '')?.text).toMatch(/SameSite=None/)
      expect(browser.cookies.get(transaction ?? '')?.text).toMatch(/Secure/)
      const { form } = await world.provider.login(url, { user: 'alice' })
      const response = await browser.send(form?.action ?? '', {
        method: 'POST',
        body: new URLSearchParams(form?.fields),
        headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' },
      })
      expect(response.status).toBe(303)
      expect(browser.names('__txn_')).toEqual([])
      expect(await client.getSession(browser.request('/'))).not.toBeNull()
    },
  )

  test('a session that the browser withholds from the POST is replaced, whatever the sizes of both', async () => {
    let size = 10
    const { browser, client } = world.another({
      appBaseUrl: 'https://localhost:3000',
      authorizationParameters: { response_mode: 'form_post' },
      beforeSessionSaved: (session) => ({ ...session, note: incompressible(size) }),
    })
    const logIn = async (user: string): Promise<unknown> => {
      const { form } = await world.provider.login(await world.begin(browser), { user })
      const withheld = browser.names('__session').map((name) => [name, browser.cookies.get(name)] as const)
      for (const [name] of withheld) browser.cookies.delete(name)
      const body = new URLSearchParams(form?.fields)
      const callback = browser.request(form?.action ?? '', { method: 'POST', body })
      for (const [name, cookie] of withheld) if (cookie) browser.cookies.set(name, cookie)
      browser.store(await client.middleware(callback))
      return (await browser.session()).user.sub
    }
    expect(await logIn('alice')).toBe('dev|alice')
    size = 3000
    expect(await logIn('bob')).toBe('dev|bob')
    expect(browser.names('__session')).toEqual(['__session__0', '__session__1'])
    size = 10
    expect(await logIn('alice')).toBe('dev|alice')
    expect(browser.names('__session')).toEqual(['__session'])
  })

  test('requested by a call on plain http, it is a configuration error', async () => {
    const options = { authorizationParameters: { response_mode: 'form_post' } }
    await expect(world.client.startInteractiveLogin(options, new Request(APP))).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('an https appBaseUrl'),
    })
  })

  test('on plain http it is a configuration error', () => {
    expect(() => world.another({ authorizationParameters: { response_mode: 'form_post' } })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
  })
})
