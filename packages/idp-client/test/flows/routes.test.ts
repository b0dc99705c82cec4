import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { codes, isContinue } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, Browser, startWorld } from '../support/app.ts'
import { fc } from '../support/fast-check.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const routes = {
  login: ['/auth/login', 'GET'],
  logout: ['/auth/logout', 'GET'],
  callback: ['/auth/callback', 'GET, POST'],
  profile: ['/auth/profile', 'GET'],
  accessToken: ['/auth/access-token', 'GET'],
  backChannelLogout: ['/auth/backchannel-logout', 'POST'],
  mfaAuthenticators: ['/auth/mfa/authenticators', 'GET'],
  mfaChallenge: ['/auth/mfa/challenge', 'POST'],
  mfaAssociate: ['/auth/mfa/associate', 'POST'],
  mfaVerify: ['/auth/mfa/verify', 'POST'],
} as const

describe('dispatch', () => {
  test.each(Object.values(routes))(
    '[S155] %s responds to %s only, otherwise 405 with Allow',
    async (path, allowed) => {
      for (const method of METHODS.filter((candidate) => !allowed.split(', ').includes(candidate))) {
        const browser = world.newBrowser()
        const response = await browser.send(path, { method })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toBe(allowed)
        expect(response.headers.get('cache-control')).toContain('no-store')
        expect(browser.cookies.size).toBe(0)
      }
    },
  )

  test.each(Object.entries(routes))('[S138,S140,S141,S142] routes.%s moves the route', async (key) => {
    const { browser } = world.another({ routes: { [key]: '/moved/here' } })
    const [path, allowed] = routes[key as keyof typeof routes]
    const method = allowed === 'GET' ? 'POST' : 'PUT'
    expect((await browser.send('/moved/here', { method })).status).toBe(405)
    expect(isContinue(await browser.send(path, { method }))).toBe(true)
  })

  test('moved routes work together', async () => {
    const { browser, client } = world.another({
      routes: { login: '/in', callback: '/back', profile: '/me', logout: '/out' },
    })
    const started = await browser.send('/in?returnTo=/x')
    const callback = await world.authorize(started.headers.get('location') ?? '')
    expect(new URL(callback).pathname).toBe('/back')
    expect((await browser.send(callback)).headers.get('location')).toBe(`${APP}/x`)
    expect((await browser.send('/me')).status).toBe(200)
    expect((await browser.send('/out')).status).toBe(302)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('one trailing slash is ignored, nothing else', async () => {
    expect((await world.newBrowser().send('/auth/profile/')).status).toBe(401)
    const others = [
      '/auth/profile//',
      '//auth/profile',
      '/AUTH/profile',
      '/auth%2Fprofile',
      '/auth/./profile/x',
      '/auth/profile;a',
      '/auth/profile.json',
      '/x/auth/profile',
    ]
    for (const path of others) {
      const response = await world.client.middleware(new Request(APP + path))
      expect(isContinue(response), path).toBe(true)
    }
  })

  test('no spelling of a path reaches another route', async () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '//', '\\', '%2e', '%2f', ';', '.', '..', 'auth', 'login', 'profile', 'AUTH', '?'),
      fc.webSegment(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const url = new URL(`${APP}/${pieces.join('')}`, APP)
        fc.pre(url.origin === APP)
        const response = await world.client.middleware(new Request(url, { method: 'PUT' }))
        const named = Object.values(routes).some(
          ([path]) => url.pathname === path || url.pathname === `${path}/`,
        )
        expect(response.status).toBe(named ? 405 : 200)
      }),
    )
  })

  test('[S159] any other request is passed through', async () => {
    const response = await world.newBrowser().send('/anything')
    expect(response.status).toBe(200)
    expect(isContinue(response)).toBe(true)
    expect(response.headers.getSetCookie()).toEqual([])
  })

  test('[S157] middleware can be used detached', async () => {
    const { middleware } = world.client
    expect((await middleware(new Request(`${APP}/auth/profile`))).status).toBe(401)
  })

  test('a disabled route passes through', async () => {
    const { browser } = world.another({ enableAccessTokenEndpoint: false })
    expect(isContinue(await browser.send('/auth/access-token'))).toBe(true)
    expect(isContinue(await browser.send('/auth/connect'))).toBe(true)
  })
})

describe('requests that are not navigations change nothing', () => {
  const kinds: Record<string, Record<string, string>> = {
    'Next prefetch': { 'next-router-prefetch': '1', rsc: '1' },
    'Next middleware prefetch': { 'x-middleware-prefetch': '1' },
    'browser prefetch': {
      'sec-purpose': 'prefetch',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    },
    prerender: { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-mode': 'navigate' },
    'old prefetch': { purpose: 'prefetch' },
    'RSC click': {
      rsc: '1',
      'sec-fetch-mode': 'cors',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-dest': 'empty',
    },
    image: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' },
    script: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' },
    fetch: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
  }

  test('200 of them set no cookie, do not redirect and end no session', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const before = [...browser.cookies]
    const all = Object.values(kinds)
    for (let count = 0; count < 200; count++) {
      const path = count % 2 ? '/auth/login' : '/auth/logout'
      const init = count % 10 === 0 ? { method: 'HEAD' } : { headers: all[count % all.length] ?? {} }
      const response = await browser.send(path, init)
      expect([204, 403, 405]).toContain(response.status)
      expect(response.headers.get('location')).toBeNull()
      expect(response.headers.getSetCookie()).toEqual([])
    }
    expect([...browser.cookies]).toEqual(before)
  })

  test.each(Object.entries(kinds))(
    '[J9] %s: 204 for a prefetch, otherwise 403 with the reason',
    async (name, headers) => {
      const response = await world.newBrowser().send('/auth/login', { headers })
      const isPrefetch = /prefetch|prerender/.test(name)
      expect(response.status).toBe(isPrefetch ? 204 : 403)
      if (isPrefetch) return
      const { error } = await response.json()
      expect(error).toEqual({ code: 'NAVIGATION_REQUIRED', message: codes.NAVIGATION_REQUIRED.message })
      expect(error.message).toMatch(/link or location\.assign, not fetch/)
    },
  )

  test.each(Object.entries(kinds))('%s: the profile route responds', async (_name, headers) => {
    expect((await world.newBrowser().send('/auth/profile', { headers })).status).toBe(401)
  })

  test.each([
    ['document', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' }],
    [
      'iframe (silent login)',
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
    ],
    ['curl', {}],
    ['Node fetch', { 'sec-fetch-mode': 'cors' }],
  ])('%s navigates', async (_, headers) => {
    expect((await world.newBrowser().send('/auth/login', { headers })).status).toBe(302)
  })

  test('a prefetched callback does not use up the code', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser))
    expect((await browser.send(callback, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(204)
    expect((await browser.send(callback)).status).toBe(302)
  })
})

describe('variables and base paths', () => {
  const withVariables = (variables: Record<string, string>, make: () => void) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    make()
    vi.unstubAllEnvs()
  }

  test('[S139,S143,S145] path variables move routes; [S148] others have none', async () => {
    let browser: Browser | undefined
    const variables = {
      FRAMEWORK_PUBLIC_LOGIN_ROUTE: '/v/login',
      FRAMEWORK_PUBLIC_PROFILE_ROUTE: '/v/profile',
      FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE: '/v/token',
      FRAMEWORK_PUBLIC_LOGOUT_ROUTE: '/v/logout',
      FRAMEWORK_PUBLIC_CALLBACK_ROUTE: '/v/callback',
    }
    withVariables(variables, () => {
      browser = world.another().browser
    })
    if (!browser) throw new Error('no browser')
    expect((await browser.send('/v/login', { method: 'PUT' })).status).toBe(405)
    expect((await browser.send('/v/profile', { method: 'PUT' })).status).toBe(405)
    expect((await browser.send('/v/token', { method: 'PUT' })).status).toBe(405)
    expect((await browser.send('/auth/logout', { method: 'PUT' })).status).toBe(405)
    expect((await browser.send('/auth/callback', { method: 'PUT' })).status).toBe(405)
  })

  test.each(['/shop', 'shop', '/shop/'])(
    '[S150,S152] FRAMEWORK_PUBLIC_BASE_PATH=%s: the prefix is in every URL once',
    async (value) => {
      let made: ReturnType<World['another']> | undefined
      withVariables({ FRAMEWORK_PUBLIC_BASE_PATH: value }, () => {
        made = world.another()
      })
      if (!made) throw new Error('no client')
      const { browser, client } = made
      expect(isContinue(await browser.send('/auth/login'))).toBe(true)
      const guarded = client.withPageAuthRequired(() => new Response())
      const refused = await guarded(browser.request('/shop/cart?x=1'))
      expect(refused.headers.get('location')).toBe('/shop/auth/login?returnTo=%2Fshop%2Fcart%3Fx%3D1')
      const started = await browser.send(refused.headers.get('location') ?? '')
      const url = new URL(started.headers.get('location') ?? '')
      expect(url.searchParams.get('redirect_uri')).toBe(`${APP}/shop/auth/callback`)
      const done = await browser.send(await world.authorize(url.href))
      expect(done.headers.get('location')).toBe(`${APP}/shop/cart?x=1`)
      const plain = await browser.send('/shop/auth/login?returnTo=/cart')
      const after = await browser.send(await world.authorize(plain.headers.get('location') ?? ''))
      expect(after.headers.get('location')).toBe(`${APP}/shop/cart`)
      expect((await browser.send('/shop/auth/profile/')).status).toBe(200)
      const out = new URL((await browser.send('/shop/auth/logout')).headers.get('location') ?? '')
      expect(out.searchParams.get('post_logout_redirect_uri')).toBe(APP)
    },
  )

  test('a path in appBaseUrl: a proxy removes it, browsers see it', async () => {
    const { client } = world.another({ appBaseUrl: `${APP}/shop` })
    const inside = new Browser(client, APP)
    const started = await inside.send('/auth/login?returnTo=/shop/cart')
    const url = new URL(started.headers.get('location') ?? '')
    expect(url.searchParams.get('redirect_uri')).toBe(`${APP}/shop/auth/callback`)
    const callback = new URL(await world.authorize(url.href))
    const done = await inside.send(`/auth/callback${callback.search}`)
    expect(done.headers.get('location')).toBe(`${APP}/shop/cart`)
    const refused = await client.withPageAuthRequired(() => new Response())(new Request(`${APP}/cart`))
    expect(refused.headers.get('location')).toBe('/shop/auth/login?returnTo=%2Fcart')
  })

  test.each([
    ['behind a proxy that removes the path of appBaseUrl', { appBaseUrl: `${APP}/shop` }, '/shop'],
    ['without a base URL for the request', { appBaseUrl: ['https://elsewhere.example/shop'] }, ''],
  ])('the links of failure pages %s stay in the application', async (_name, options, prefix) => {
    const { client } = world.another(options)
    const inside = new Browser(client, APP)
    const page = await (await inside.send('/auth/login?max_age=x')).text()
    expect(page).toContain(`href="${prefix}/auth/login">Try again</a>`)
    expect(page).toContain(`href="${prefix}/">Home</a>`)
  })

  test('the page of a guard that denies access links into the application', async () => {
    const { client } = world.another({ appBaseUrl: `${APP}/shop` })
    const signedIn = world.newBrowser()
    await world.login(signedIn)
    const guarded = client.withPageAuthRequired(() => new Response(), { authorize: () => false })
    const refused = await guarded(signedIn.request('/cart'))
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('href="/shop/">Home</a>')
    const expected = { level: 'info', code: 'REQUEST_FAILED', error: 'ACCESS_DENIED' }
    expect(world.events.at(-1)).toMatchObject(expected)
  })

  test('[S151] both together are a configuration error', () => {
    withVariables({ FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }, () => {
      expect(() => world.another({ appBaseUrl: `${APP}/shop` })).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
      )
    })
  })
})
