import { NextResponse } from 'next/server.js'
import { describe, expect, test } from 'vitest'
import { continueWith, isContinue } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { APP, cookieNames, SECRET, signedIn } from './client-options.ts'
import { client, forwarded, nextRequest } from './next-support.ts'

const NO_STORE = 'private, no-cache, no-store, must-revalidate, max-age=0'

describe('requests for the application', () => {
  test('without a session they pass, with the path for the guards and without a cookie', async () => {
    const response = await client().middleware(nextRequest('/page?a=1&b=%2F', { headers: { accept: '*/*' } }))
    expect(response).toBeInstanceOf(NextResponse)
    expect(isContinue(response)).toBe(true)
    expect(forwarded(response)).toEqual({ accept: '*/*', 'x-idp-return-path': '/page?a=1&b=%2F' })
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.headers.get('cache-control')).toBeNull()
  })

  test('with a fresh session they pass, with the path for guards that require more', async () => {
    const headers = await signedIn()
    const response = await client().middleware(nextRequest('/page', { headers }))
    expect(isContinue(response)).toBe(true)
    expect(forwarded(response)).toEqual({ ...headers, 'x-idp-return-path': '/page' })
    expect(response.headers.getSetCookie()).toEqual([])
  })

  test.each(['fresh', 'due'] as const)(
    'a path header of a client is removed or replaced (%s session)',
    async (use) => {
      const headers = { ...(await signedIn(use)), 'x-idp-return-path': '/claimed' }
      const response = await client().middleware(nextRequest('/page', { headers }))
      expect(forwarded(response)?.['x-idp-return-path']).toBe('/page')
      const nobody = await client().middleware(
        nextRequest('/', { headers: { 'x-idp-return-path': '/claimed' } }),
      )
      expect(forwarded(nobody)?.['x-idp-return-path']).toBe('/')
    },
  )

  test('a request for page data is not a page: a path header is removed', async () => {
    const headers = { 'x-idp-return-path': '/claimed', accept: '*/*' }
    const request = new Request(`${APP}/_next/data/build/page.json`, { headers })
    expect(forwarded(await client().middleware(request))).toEqual({ accept: '*/*' })
  })

  test.each([
    ['an API call', { accept: 'application/json' }],
    ['an image', { accept: 'image/avif,*/*', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' }],
  ])(
    '%s renders no page: its headers are not forwarded, and a path from the client is removed',
    async (_what, headers) => {
      const idp = client()
      for (const session of [{}, await signedIn()]) {
        const given = { ...headers, ...session }
        expect(forwarded(await idp.middleware(nextRequest('/data', { headers: given })))).toBeNull()
        const claiming = nextRequest('/data', { headers: { ...given, 'x-idp-return-path': '/claimed' } })
        expect(forwarded(await idp.middleware(claiming))).toEqual(given)
      }
    },
  )

  test.each([
    ['document', 'navigate'],
    ['iframe', 'navigate'],
    ['object', 'navigate'],
    ['empty', 'cors'],
  ])('a request for %s (%s) may render a page', async (destination, mode) => {
    const headers = { accept: '*/*', 'sec-fetch-dest': destination, 'sec-fetch-mode': mode }
    const response = await client().middleware(nextRequest('/page', { headers }))
    expect(forwarded(response)?.['x-idp-return-path']).toBe('/page')
  })

  test.each([
    ['?_rsc=1a2b', ''],
    ['?_rsc=1a2b&x=1', '?x=1'],
    ['?x=1&_rsc=1a2b', '?x=1'],
    ['?x=a%20b&_rsc=1a2b&y=%2B', '?x=a%20b&y=%2B'],
    ['?x_rsc=1', '?x_rsc=1'],
  ])("the router's own parameter is not part of the path: %s", async (search, expected) => {
    const response = await client().middleware(new Request(`${APP}/page${search}`))
    expect(forwarded(response)?.['x-idp-return-path']).toBe(`/page${expected}`)
  })

  test('a session that is due for rolling is written to the response and to the forwarded request', async () => {
    const headers = await signedIn('due')
    const response = await client().middleware(nextRequest('/page', { headers }))
    expect(cookieNames(response)).toEqual(['__session'])
    expect(response.headers.get('cache-control')).toBe(NO_STORE)
    expect(response.headers.get('vary')).toBe('*')
    expect(response.headers.get('cdn-cache-control')).toBe('no-store')
    const { cookie = '' } = forwarded(response) ?? {}
    expect(cookie.startsWith('theme=dark; __session=')).toBe(true)
    expect(cookie).not.toBe(headers.cookie)
    expect(cookie).toContain(response.cookies.get('__session')?.value)
    const next = await client().middleware(nextRequest('/page', { headers: { cookie } }))
    expect(next.headers.getSetCookie()).toEqual([])
  })

  test('an expired session cookie is deleted in the browser and for the application', async () => {
    const { cookie } = await signedIn()
    const dead = `${/__session=[^;]*/.exec(cookie)?.[0]}x`
    const response = await client().middleware(nextRequest('/page', { headers: { cookie: dead } }))
    expect(response.headers.getSetCookie()[0]).toMatch(/^__session=;.*Max-Age=0/)
    expect(forwarded(response)).toEqual({ 'x-idp-return-path': '/page' })
  })

  test('a Server Action and a prefetch do not count as use', async () => {
    const cookie = await signedIn('due')
    const action = nextRequest('/page', { method: 'POST', headers: { ...cookie, 'next-action': 'id' } })
    const prefetch = nextRequest('/page', { headers: { ...cookie, 'next-router-prefetch': '1' } })
    for (const request of [action, prefetch]) {
      expect((await client().middleware(request)).headers.getSetCookie()).toEqual([])
    }
  })

  test('Next.js may pass its event as the second argument, and the method may be detached', async () => {
    const { middleware } = client()
    expect(isContinue(await middleware(nextRequest('/page'), { waitUntil: () => {} }))).toBe(true)
  })
})

describe('auth routes', () => {
  test.each([
    ['a base path', '/docs/auth/profile', { basePath: '/docs' }],
    ['a locale', '/fr/auth/profile', { i18n: { locales: ['en', 'fr'], defaultLocale: 'en' } }],
    ['the default locale', '/auth/profile', { i18n: { locales: ['en', 'fr'], defaultLocale: 'en' } }],
    [
      'both',
      '/docs/fr/auth/profile',
      { basePath: '/docs', i18n: { locales: ['en', 'fr'], defaultLocale: 'en' } },
    ],
    ['a trailing slash', '/auth/profile/', { trailingSlash: true }],
  ])('are found below %s of next.config', async (_what, path, config) => {
    const response = await client().middleware(nextRequest(path, { ...config, headers: await signedIn() }))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ sub: 'carol' })
    expect(response.headers.get('cache-control')).toBe(NO_STORE)
  })

  test('a plain Request gets a response too', async () => {
    const response = await client().middleware(
      new Request(`${APP}/auth/profile`, { headers: await signedIn() }),
    )
    expect(response).toBeInstanceOf(NextResponse)
    expect(response.status).toBe(200)
  })

  test('the path for the guards contains base path, locale and trailing slash, as in the browser', async () => {
    const config = {
      basePath: '/docs',
      trailingSlash: true,
      i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
    }
    const response = await client().middleware(nextRequest('/docs/fr/page/?x=1', config))
    expect(forwarded(response)?.['x-idp-return-path']).toBe('/docs/fr/page/?x=1')
  })

  test('cookies of the response are kept beside cookies that the application sets on it', async () => {
    const response = await client().middleware(
      nextRequest('/auth/profile', { headers: await signedIn('due') }),
    )
    expect(cookieNames(response)).toEqual(['__session'])
    const parts = (): string[] =>
      (response.headers.getSetCookie()[0] ?? '')
        .split('; ')
        .filter((part) => !part.startsWith('Expires='))
        .map((part, index) => (index === 0 ? part : part.toLowerCase()))
        .sort()
    const before = parts()
    expect(before).toEqual(expect.arrayContaining(['httponly', 'path=/', 'samesite=lax']))
    response.cookies.set('app', '1')
    expect(cookieNames(response)).toEqual(['__session', 'app'])
    expect(parts()).toEqual(before)
  })
})

describe('with another middleware', () => {
  const language = ({ nextUrl, headers }: { nextUrl: URL; headers: Headers }): NextResponse => {
    const changed = new Headers(headers)
    changed.set('x-language', 'fr')
    return NextResponse.rewrite(new URL('/french', nextUrl), { request: { headers: changed } })
  }

  test('its rewrite and its request headers are kept, those of the library are added', async () => {
    const headers = { ...(await signedIn('due')), 'x-idp-return-path': '/claimed' }
    const response = await client().middleware(nextRequest('/page', { headers }), language)
    expect(response.headers.get('x-middleware-rewrite')).toBe(`${APP}/french`)
    expect(isContinue(response)).toBe(false)
    expect(cookieNames(response)).toEqual(['__session'])
    expect(response.headers.get('cache-control')).toBe(NO_STORE)
    const { cookie = '', ...others } = forwarded(response) ?? {}
    expect(others).toEqual({ 'x-language': 'fr', 'x-idp-return-path': '/page' })
    expect(cookie).toContain(`__session=${response.cookies.get('__session')?.value}`)
    expect(cookie).toContain('theme=dark')
  })

  test('cookies that it forwards are kept beside those of the library', async () => {
    const request = nextRequest('/page', { headers: await signedIn('due') })
    const response = await client().middleware(request, () => {
      const headers = new Headers({ cookie: 'theme=light; __session=old; seen=1' })
      return NextResponse.next({ request: { headers } })
    })
    const { cookie } = forwarded(response) ?? {}
    const current = response.cookies.get('__session')?.value
    expect(cookie).toBe(`theme=light; __session=${current}; seen=1`)
  })

  test('[Q4] a cookie that the library deletes is not in the forwarded request', async () => {
    const { cookie } = await signedIn()
    const request = nextRequest('/page', { headers: { cookie: `${cookie}-modified` } })
    const response = await client().middleware(request, ({ headers }) =>
      NextResponse.next({ request: { headers } }),
    )
    expect(response.cookies.get('__session')).toMatchObject({ value: '', maxAge: 0 })
    expect(forwarded(response)?.['cookie']).toBe('theme=dark')
  })

  test('a redirect has the cookies of the library and no request headers', async () => {
    const request = nextRequest('/page', { headers: await signedIn('due') })
    const response = await client().middleware(request, () => {
      const redirect = NextResponse.redirect(`${APP}/fr/page`)
      redirect.cookies.set('language', 'fr')
      return redirect
    })
    expect(response.status).toBe(307)
    expect(cookieNames(response)).toEqual(['language', '__session'])
    expect(forwarded(response)).toBeNull()
  })

  test('it may return nothing, and is not called for auth routes', async () => {
    expect(isContinue(await client().middleware(nextRequest('/page'), () => undefined))).toBe(true)
    let asked = false
    const profile = await client().middleware(nextRequest('/auth/profile'), () => {
      asked = true
    })
    expect([profile.status, asked]).toEqual([401, false])
  })

  test('continueWith does the same manually, also with a plain Response', async () => {
    const request = nextRequest('/page', { headers: await signedIn('due') })
    const continued = await client().middleware(request)
    const response = continueWith(
      continued,
      new Response('own response', { headers: { 'set-cookie': 'app=1' } }),
    )
    expect(cookieNames(response)).toEqual(['app', '__session'])
    expect(response.headers.get('cache-control')).toBe(NO_STORE)
    expect(await response.text()).toBe('own response')
  })

  test('operations in it read staged changes, and write to its response and the forwarded request', async () => {
    const idp = client()
    const response = await idp.middleware(
      nextRequest('/page', { headers: await signedIn() }),
      async (request) => {
        const result = NextResponse.next()
        const session = await idp.getSession(request)
        if (!session) throw new Error('no session')
        await idp.updateSession(request, result, { ...session, colour: 'teal' })
        expect((await idp.getSession(request))?.['colour']).toBe('teal')
        return result
      },
    )
    expect(cookieNames(response)).toEqual(['__session'])
    const { cookie = '' } = forwarded(response) ?? {}
    const seen = await idp.getSession(new Request(`${APP}/page`, { headers: { cookie } }))
    expect(seen?.['colour']).toBe('teal')
  })
})

describe('with a missing required option', () => {
  const incomplete = () => client({ secret: 'short' })

  test('pages pass without a session, auth routes respond with 500', async () => {
    const passed = await incomplete().middleware(nextRequest('/page', { headers: await signedIn() }))
    expect(isContinue(passed)).toBe(true)
    expect(forwarded(passed)?.['x-idp-return-path']).toBe('/page')
    expect(passed.headers.getSetCookie()).toEqual([])
    const response = await incomplete().middleware(nextRequest('/auth/login'))
    expect([response.status, response.headers.get('location')]).toEqual([500, null])
  })
})

describe('the page to which a Server Action redirects, which Next.js requests without passing on cookies', () => {
  const redirected = { 'x-action-redirect': '/orders;push' }
  const withToken = async (expiresIn: number, refreshToken?: string): Promise<{ cookie: string }> => {
    const expiresAt = Math.floor(Date.now() / 1000) + expiresIn
    const tokenSet = { accessToken: 'token', expiresAt, ...(refreshToken ? { refreshToken } : {}) }
    return { cookie: await generateCookieHeader({ user: { sub: 'carol' }, tokenSet }, { secret: SECRET }) }
  }

  test('is left to the browser if a refreshed token would be lost with the process', async () => {
    const headers = { ...redirected, ...(await withToken(-1, 'refresh')) }
    const response = await client({ processLasts: false }).middleware(nextRequest('/orders', { headers }))
    expect(isContinue(response)).toBe(false)
    expect([response.status, response.headers.get('content-type')]).toEqual([204, null])
  })

  interface Passing {
    readonly options?: IdpClientOptions
    readonly expiresIn?: number
    readonly refreshToken?: string | undefined
    readonly given?: Readonly<Record<string, string>>
  }

  test.each<[string, Passing]>([
    ['the process lasts', { options: { processLasts: true } }],
    ['a store keeps the tokens', { options: { processLasts: false, sessionStore: memoryStore() } }],
    ['the token is valid', { expiresIn: 60 }],
    ['there is no refresh token', { refreshToken: undefined }],
    ['the browser requests the page', { given: {} }],
  ])('passes if %s', async (_why, passing) => {
    const options = { processLasts: false, ...passing.options }
    const { expiresIn, refreshToken, given } = {
      expiresIn: -1,
      refreshToken: 'refresh',
      given: redirected,
      ...passing,
    }
    const headers = { ...given, ...(await withToken(expiresIn, refreshToken)) }
    expect(isContinue(await client(options).middleware(nextRequest('/orders', { headers })))).toBe(true)
  })

  test('passes without a session, and without a configuration', async () => {
    const idp = client({ processLasts: false })
    expect(isContinue(await idp.middleware(nextRequest('/orders', { headers: redirected })))).toBe(true)
    const headers = { ...redirected, ...(await withToken(-1, 'refresh')) }
    const incomplete = client({ processLasts: false, clientId: undefined })
    expect(isContinue(await incomplete.middleware(nextRequest('/orders', { headers })))).toBe(true)
  })
})
