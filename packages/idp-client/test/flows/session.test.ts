import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SessionData } from '../../src/index.ts'
import { continueWith, isContinue } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, currentTime, startWorld } from '../support/app.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
let now: number
beforeEach(() => {
  world.clock.now = currentTime()
  now = world.clock.now
})

async function signedIn(): Promise<Browser> {
  const browser = world.newBrowser()
  await world.login(browser)
  return browser
}
const sub = async (browser: Browser) => (await world.client.getSession(browser.request('/')))?.user.sub
const user = 'dev|alice'

describe('the lifetime of a session', () => {
  test('[S073,S074,S075,S132] rolling writes once per five minutes of use, never cacheable', async () => {
    const browser = await signedIn()
    let writes = 0
    for (let count = 0; count < 100; count++) {
      const response = await browser.send('/page')
      expect(isContinue(response)).toBe(true)
      if (response.headers.getSetCookie().length > 0) writes++
      world.clock.now += 3
    }
    expect(writes).toBe(0)
    const rolled = await browser.send('/page')
    expect(rolled.headers.getSetCookie()).toHaveLength(1)
    expect(rolled.headers.get('cache-control')).toContain('no-store')
    expect((await browser.send('/page')).headers.getSetCookie()).toEqual([])
  })

  test('[S131,S132,S133] use extends it, up to the absolute limit', async () => {
    const browser = await signedIn()
    for (let days = 0; days < 5; days++) {
      world.clock.now += 43_200
      await browser.send('/page')
      expect(await sub(browser)).toBe(user)
    }
    world.clock.now = now + 259_199
    await browser.send('/page')
    expect(await sub(browser)).toBe(user)
    world.clock.now = now + 259_200
    expect(await sub(browser)).toBeUndefined()
  })

  test('[S131] ends without use after the inactivity duration', async () => {
    const browser = await signedIn()
    world.clock.now += 86_399
    expect(await sub(browser)).toBe(user)
    world.clock.now += 1
    expect(await sub(browser)).toBeUndefined()
  })

  test('[S134] rolling: false never extends it, and it ends at the absolute limit', async () => {
    const { browser, client } = world.another({ session: { rolling: false, absoluteDuration: 1000 } })
    await world.login(browser)
    world.clock.now += 999
    expect((await browser.send('/page')).headers.getSetCookie()).toEqual([])
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
    world.clock.now += 1
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('a clock that is set back extends nothing and causes no negative lifetime', async () => {
    const browser = await signedIn()
    world.clock.now -= 3600
    expect(await sub(browser)).toBe(user)
    world.clock.now = now + 259_200
    expect(await sub(browser)).toBeUndefined()
  })

  test.each([
    ['in a cookie', () => undefined],
    ['in a store', () => memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })],
  ])(
    'of an active user stays %s while the clock is set back for longer than it lasts',
    async (_where, create) => {
      const session = { inactivityDuration: 900 }
      const { browser, client } = world.another({ session, sessionStore: create() })
      await world.login(browser)
      world.clock.now -= 3600
      // The browser has a clock of its own.
      let endsIn = session.inactivityDuration
      for (let minutes = 0; minutes < 90; minutes++) {
        world.clock.now += 60
        endsIn -= 60
        expect(endsIn).toBeGreaterThan(0)
        const [line = ''] = (await browser.send('/page')).headers.getSetCookie()
        endsIn = Number(/max-age=(\d+)/i.exec(line)?.[1] ?? endsIn)
        expect(await client.getSession(browser.request('/'))).not.toBeNull()
      }
    },
  )

  test('in a store gets one cookie after the clock was set back, not one with each response', async () => {
    const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
    const { browser } = world.another({ session: { inactivityDuration: 900 }, sessionStore })
    await world.login(browser)
    world.clock.now -= 1000
    const pages = [await browser.send('/page'), await browser.send('/page'), await browser.send('/page')]
    expect(pages.map(({ headers }) => headers.getSetCookie().length)).toEqual([1, 0, 0])
  })

  test('a request of the profile route counts as use; a prefetch or Server Action does not', async () => {
    const browser = await signedIn()
    world.clock.now += 600
    const headers = [
      { 'next-action': 'abc' },
      { 'next-router-prefetch': '1' },
      { 'sec-purpose': 'prefetch;prerender' },
    ]
    for (const header of headers) {
      const init = {
        headers: header as Record<string, string>,
        method: 'next-action' in header ? 'POST' : 'GET',
      }
      expect((await browser.send('/page', init)).headers.getSetCookie()).toEqual([])
    }
    expect((await browser.send('/auth/profile')).headers.getSetCookie()).toHaveLength(1)
  })

  test('requests without a session get no cookie', async () => {
    const browser = world.newBrowser()
    await browser.send('/page')
    await browser.send('/auth/profile')
    expect(browser.cookies.size).toBe(0)
  })

  test('cookies of expired sessions are deleted once by the pass-through, never by getSession', async () => {
    const browser = await signedIn()
    const stored = browser.cookies.get('__session')
    if (stored) browser.cookies.set('__session', { ...stored, value: `${stored.value.slice(0, -4)}AAAA` })
    expect(await sub(browser)).toBeUndefined()
    const response = await browser.send('/page')
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^__session=;.*Max-Age=0/)])
    expect(browser.cookies.size).toBe(0)
    expect((await browser.send('/page')).headers.getSetCookie()).toEqual([])
  })
})

describe('profile route', () => {
  test('[S153] without a session: 401, empty, not cacheable', async () => {
    const response = await world.newBrowser().send('/auth/profile')
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  test('[S154] without a session and noContentProfileResponseWhenUnauthenticated: 204', async () => {
    const { browser } = world.another({ noContentProfileResponseWhenUnauthenticated: true })
    expect((await browser.send('/auth/profile')).status).toBe(204)
  })
})

describe('updateSession', () => {
  test('[S185,S186] saves the change; internal is unchanged; the next read returns it', async () => {
    const browser = await signedIn()
    const request = browser.request('/')
    const session = await world.client.getSession(request)
    const headers = new Headers()
    const forged = { createdAt: 1, sid: 'forged' }
    const changes = { ...session, favourite: 'teal', internal: forged } as unknown as SessionData
    expect(await world.client.updateSession(request, headers, changes)).toBeUndefined()
    expect((await world.client.getSession(request))?.['favourite']).toBe('teal')
    browser.store(new Response(null, { headers }))
    const saved = await world.client.getSession(browser.request('/'))
    expect(saved?.['favourite']).toBe('teal')
    expect(saved?.internal).toEqual(session?.internal)
    expect(headers.get('cache-control')).toContain('no-store')
  })

  test('removes properties that are omitted, but not user and tokenSet', async () => {
    const browser = await signedIn()
    const request = browser.request('/')
    await world.client.updateSession(request, new Headers(), { extra: 1 } as unknown as SessionData)
    await world.client.updateSession(request, new Headers(), { other: 2 } as unknown as SessionData)
    const session = await world.client.getSession(request)
    expect(session).toMatchObject({
      user: { sub: user },
      tokenSet: { accessToken: expect.any(String) },
      other: 2,
    })
    expect(session).not.toHaveProperty('extra')
  })

  test('[S187,S188] throws typed errors without a session, without data and with invalid data, and writes nothing', async () => {
    const browser = await signedIn()
    const session = await world.client.getSession(browser.request('/'))
    const { client } = world
    const write = (request: Request, data: unknown) =>
      client.updateSession(request, new Headers(), data as SessionData)
    await expect(write(world.newBrowser().request('/'), session)).rejects.toMatchObject({
      code: 'MISSING_SESSION',
    })
    const tokens = [{ accessTokens: {} }, { accessTokens: [null] }, { accessTokens: 'abc' }]
    const others = [{ connectionTokenSets: [{ accessToken: 'a' }] }, { tokenSet: { accessToken: 5 } }]
    for (const data of [
      undefined,
      null,
      7,
      [],
      [['theme', 'dark']],
      { user: {} },
      { user: null },
      { tokenSet: 'x' },
      ...tokens,
      ...others,
    ]) {
      const request = browser.request('/')
      if (data !== null && typeof data === 'object' && 'user' in data && data.user === null) continue
      await expect(write(request, data)).rejects.toMatchObject({ code: 'MISSING_SESSION_DATA' })
      await expect(write(request, data)).rejects.toBeInstanceOf(Error)
      expect(await client.getSession(request)).toEqual(session)
    }
  })

  test('ignores names of Object.prototype', async () => {
    const browser = await signedIn()
    const request = browser.request('/')
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"x":1}}') as SessionData
    await world.client.updateSession(request, new Headers(), hostile)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((await world.client.getSession(request))?.user.sub).toBe(user)
  })
})

describe('the current request', () => {
  test('[S008,S160,S163,S184,S186] is used by operations without a request inside middleware(request, next)', async () => {
    const browser = await signedIn()
    const response = await world.client.middleware(browser.request('/page'), async () => {
      const session = await world.client.getSession()
      await world.client.updateSession({ ...session, seen: 1 } as SessionData)
      expect((await world.client.getSession())?.['seen']).toBe(1)
      return Response.json({ sub: session?.user.sub }, { headers: { 'set-cookie': 'own=1' } })
    })
    expect(await response.json()).toEqual({ sub: user })
    const names = response.headers.getSetCookie().map((text) => text.split('=')[0])
    expect(names).toEqual(['own', '__session'])
    expect(response.headers.get('cache-control')).toContain('no-store')
    browser.store(response)
    expect((await world.client.getSession(browser.request('/')))?.['seen']).toBe(1)
    const anonymous = await world.client.middleware(world.newBrowser().request('/'), async () =>
      Response.json(await world.client.getSession()),
    )
    expect(await anonymous.json()).toBeNull()
    expect(anonymous.headers.get('cache-control')).toBeNull()
  })

  test('is missing outside of it, which is an error', async () => {
    await expect(world.client.getSession()).rejects.toMatchObject({ code: 'AMBIENT_REQUEST_MISSING' })
  })

  test('is separate for two users in parallel', async () => {
    const names = ['alice', 'bob', 'mallory']
    const browsers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const browser = world.newBrowser()
        const name = names[index % 3] ?? ''
        await world.login(browser, '', { user: name })
        return { browser, name }
      }),
    )
    const responses = await Promise.all(
      browsers.map(({ browser }, index) =>
        world.client.middleware(browser.request('/page'), async () => {
          await new Promise((resolve) => setTimeout(resolve, (index * 7) % 20))
          return Response.json((await world.client.getSession())?.user.sub)
        }),
      ),
    )
    for (const [index, response] of responses.entries())
      expect(await response.json()).toBe(`dev|${browsers[index]?.name}`)
  })
})

describe('getAccessToken without options', () => {
  test('returns the token of the login while it is valid', async () => {
    const browser = await signedIn()
    const session = await world.client.getSession(browser.request('/'))
    expect(await world.client.getAccessToken(browser.request('/'), new Headers())).toEqual({
      token: session?.tokenSet.accessToken,
      expiresAt: session?.tokenSet.expiresAt,
      scope: session?.tokenSet.scope,
      token_type: 'Bearer',
    })
  })

  test('throws typed errors without a session and after its expiry', async () => {
    const { client } = world
    await expect(client.getAccessToken(world.newBrowser().request('/'))).rejects.toMatchObject({
      code: 'MISSING_SESSION',
      name: 'AccessTokenError',
    })
    const { browser } = world.another({ authorizationParameters: { scope: 'openid' } })
    await world.login(browser)
    world.clock.now += 4000
    await expect(client.getAccessToken(browser.request('/'))).rejects.toMatchObject({
      name: 'AccessTokenError',
    })
  })
})

describe('guards', () => {
  test('[S206] a page redirects to the login route and back, with its query', async () => {
    const page = world.client.withPageAuthRequired(async () => new Response('secret'))
    const refused = await page(new Request(`${APP}/orders?a=1&b=%2F%26scope%3Dx`))
    expect(refused.status).toBe(302)
    const location = new URL(refused.headers.get('location') ?? '', APP)
    expect([...location.searchParams.keys()]).toEqual(['returnTo'])
    expect(location.searchParams.get('returnTo')).toBe('/orders?a=1&b=%2F%26scope%3Dx')
    const browser = await signedIn()
    expect(await (await page(browser.request('/orders'))).text()).toBe('secret')
  })

  test('a page redirects with 303 after any other method than GET, so that the browser requests the login with GET', async () => {
    const page = world.client.withPageAuthRequired(() => new Response('secret'))
    const statusOf = async (method: string) => (await page(new Request(`${APP}/orders`, { method }))).status
    expect([await statusOf('HEAD'), await statusOf('POST'), await statusOf('DELETE')]).toEqual([
      302, 303, 303,
    ])
  })

  test('a path that the login would ignore does not make the address too long for proxies', async () => {
    const page = world.client.withPageAuthRequired(() => new Response())
    const redirectOf = async (length: number): Promise<string | null> => {
      const path = `/search?q=${'%D0%B0'.repeat(length)}`
      return (await page(world.newBrowser().request(path))).headers.get('location')
    }
    expect(await redirectOf(300)).toContain(`returnTo=${encodeURIComponent('/search?q=%D0%B0')}`)
    expect(await redirectOf(400)).toBe('/auth/login')
  })

  test('[S228] returnTo of the page guard can be set', async () => {
    const fixed = world.client.withPageAuthRequired(() => new Response(), { returnTo: '/a?b=c' })
    expect((await fixed(new Request(APP))).headers.get('location')).toBe('/auth/login?returnTo=%2Fa%3Fb%3Dc')
    const computed = world.client.withPageAuthRequired(() => new Response(), {
      returnTo: async (request) => new URL(request.url).pathname.toUpperCase(),
    })
    expect((await computed(new Request(`${APP}/x`))).headers.get('location')).toBe(
      '/auth/login?returnTo=%2FX',
    )
  })

  test('[S207] an API responds with 401 as JSON, never redirects, and reads the user from the cookie only', async () => {
    const api = world.client.withApiAuthRequired(async (_, extra: number) => Response.json({ extra }))
    const headers = {
      'x-user': 'alice',
      authorization: 'Bearer x',
      'x-middleware-subrequest': 'middleware:middleware',
    }
    const refused = await api(new Request(`${APP}/api?sub=alice`, { headers }), 1)
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: 'not_authenticated', code: 'NOT_AUTHENTICATED' })
    const browser = await signedIn()
    expect(await (await api(browser.request('/api'), 7)).json()).toEqual({ extra: 7 })
  })
})

test('continueWith does not change responses without cookies', () => {
  const own = new Response('x')
  expect(continueWith(new Response(null, { headers: { 'x-middleware-next': '1' } }), own)).toBe(own)
  expect(isContinue(own)).toBe(false)
})
