import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OnCallbackContext } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { skipTime } from '../support/timers.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.clearRequests()
  world.events.length = 0
})

const json = { headers: { accept: 'application/json' } }
const signedIn = async (browser: Browser) => (await world.client.getSession(browser.request('/')))?.user.sub

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: { code: unknown } }).error.code
}

describe('parallel and repeated logins', () => {
  test('[S051] five tabs finish in any order', async () => {
    const browser = world.newBrowser()
    const tabs = []
    for (let tab = 0; tab < 5; tab++) tabs.push(await world.begin(browser, `?returnTo=/tab/${tab}`))
    for (const tab of [3, 0, 4, 1, 2]) {
      const response = await browser.send(await world.authorize(tabs[tab] ?? ''))
      expect(response.headers.get('location')).toBe(`${APP}/tab/${tab}`)
    }
    expect(browser.names('__txn_')).toEqual([])
    expect(world.provider.count('token')).toBe(5)
  })

  test('[S052,S053] with one transaction at a time the older tab fails with SUPERSEDED_STATE', async () => {
    const { browser } = world.another({ enableParallelTransactions: false })
    const older = await world.begin(browser)
    const newer = await world.begin(browser)
    const failed = await browser.send(await world.authorize(older), json)
    expect(failed.status).toBe(400)
    expect(await codeOf(failed)).toBe('SUPERSEDED_STATE')
    expect((await browser.send(await world.authorize(newer))).status).toBe(302)
  })

  test('the same callback twice at once sends one token request, and both succeed', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/here'))
    const requests = [browser.request(callback), browser.request(callback)]
    const responses = await Promise.all(requests.map((request) => world.client.middleware(request)))
    for (const response of responses) {
      expect(response.headers.get('location')).toBe(`${APP}/here`)
      expect(response.headers.getSetCookie().some((text) => text.startsWith('__session='))).toBe(true)
    }
    expect(world.provider.count('token')).toBe(1)
  })

  test('a replay in the same browser redirects to the page, without a token request or a change of the session', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/here'))
    await browser.send(callback)
    const session = browser.cookies.get('__session')?.value
    world.provider.clearRequests()
    const again = await browser.send(callback)
    expect(again.status).toBe(302)
    expect(again.headers.get('location')).toBe(`${APP}/here`)
    expect(browser.cookies.get('__session')?.value).toBe(session)
    expect(world.provider.count('token')).toBe(0)
  })

  test('the callback in another browser fails with 4xx, without a token request or a session', async () => {
    const attacker = world.newBrowser()
    const callback = await world.authorize(await world.begin(attacker), { user: 'mallory' })
    const victim = world.newBrowser()
    const response = await victim.send(callback, json)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('UNKNOWN_STATE')
    expect(world.provider.count('token')).toBe(0)
    expect(await signedIn(victim)).toBeUndefined()
  })

  test('a used transaction cookie that is sent again causes no second token request', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser))
    const replay = browser.request(callback, json)
    const used = [...browser.cookies]
    await browser.send(callback)
    world.clock.now += 30
    skipTime(30_000)
    const response = await world.client.middleware(replay)
    expect(await codeOf(response)).toBe('REPLAYED_STATE')
    // With the session that it created, the page is shown.
    for (const [name, cookie] of used) browser.cookies.set(name, cookie)
    expect((await browser.send(callback)).status).toBe(302)
    expect(world.provider.count('token')).toBe(1)
  })

  test.each([
    ['cookies', () => ({})],
    ['a store', () => ({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })],
  ])(
    'identical callbacks with sessions in %s, one after the logout, create one session',
    async (_, storage) => {
      const users: unknown[] = []
      const { browser, client } = world.another({
        ...storage(),
        onCallback: ({ session }) => void users.push(session?.user.sub),
      })
      const callback = await world.authorize(await world.begin(browser, '?returnTo=/here'))
      const [first, second, late] = [1, 2, 3].map(() => browser.request(callback))
      if (!first || !second || !late) throw new Error('no requests')
      for (const response of await Promise.all([client.middleware(first), client.middleware(second)]))
        browser.store(response)
      expect((await browser.send('/auth/profile')).status).toBe(200)
      await browser.send('/auth/logout')

      const joined = browser.store(await client.middleware(late))
      expect(joined.headers.get('location')).toBe(`${APP}/here`)
      expect((await browser.send('/auth/profile')).status).toBe(401)
      expect(users).toEqual(['dev|alice'])
      expect(world.events.filter(({ code }) => code === 'LOGIN_COMPLETED')).toHaveLength(1)
    },
  )
})

describe('state', () => {
  test.each([
    ['missing', '?code=c', 'MISSING_STATE'],
    ['empty', '?code=c&state=', 'MISSING_STATE'],
    ['unknown', '?code=c&state=abc', 'UNKNOWN_STATE'],
    ['repeated', '?code=c&state=a&state=b', 'UNKNOWN_STATE'],
    ['not UTF-8', '?code=c&state=%ff%fe', 'UNKNOWN_STATE'],
    ['markup', '?code=c&state=%3Cscript%3E', 'UNKNOWN_STATE'],
    ['huge', `?code=c&state=${'A'.repeat(100_000)}`, 'UNKNOWN_STATE'],
  ])('%s: 400, no token request, the session and other transactions stay', async (_, query, code) => {
    const browser = world.newBrowser()
    await world.login(browser)
    await world.begin(browser)
    world.provider.clearRequests()
    const before = [...browser.cookies]
    const response = await browser.send(`/auth/callback${query}`, json)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe(code)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect([...browser.cookies]).toEqual(before)
    expect(world.provider.count('token')).toBe(0)
  })

  test.each([
    ['access_denied', /no state.* access_denied\b/],
    ['<alice>', /no state.* an unregistered error code/],
  ])(
    'missing beside the error %s, as some providers send it: the log has the error',
    async (error, detail) => {
      const browser = world.newBrowser()
      const stop = world.provider.tamperAuthorizationResponse((parameters) => {
        for (const name of ['code', 'state']) parameters.delete(name)
        parameters.set('error', error)
        parameters.set('error_description', 'alice is blocked')
      })
      const callback = await world.authorize(await world.begin(browser))
      stop()
      const response = await browser.send(callback, json)
      expect([response.status, await codeOf(response)]).toEqual([400, 'MISSING_STATE'])
      expect(world.events.at(-1)).toMatchObject({
        code: 'LOGIN_FAILED',
        detail: expect.stringMatching(detail),
      })
      expect(JSON.stringify(world.events)).not.toContain('alice')
    },
  )

  test.each([
    ['sends', (_cookies: Browser['cookies']) => {}],
    ['has deleted', (cookies: Browser['cookies']) => cookies.clear()],
  ])(
    '[S136] a login that exceeded transactionCookie.maxAge fails if the browser %s its cookie',
    async (_, keep) => {
      const browser = world.newBrowser()
      const callback = await world.authorize(await world.begin(browser))
      world.clock.now += 3600
      keep(browser.cookies)
      const response = await browser.send(callback, json)
      world.clock.now -= 3600
      expect(response.status).toBe(400)
      expect(await codeOf(response)).toBe('EXPIRED_STATE')
      expect(browser.names('__txn_')).toEqual(['__txn_restart'])
    },
  )

  test('a login that ended on another host fails', async () => {
    const hosts = ['http://localhost:3000', 'http://127.0.0.1:3000']
    const here = world.another({ appBaseUrl: hosts })
    const callback = new URL(await world.authorize(await world.begin(here.browser)))
    callback.hostname = '127.0.0.1'
    const headers = { ...json.headers, host: '127.0.0.1:3000' }
    const response = await here.client.middleware(new Request(callback, { headers }))
    expect(await codeOf(response)).toBe('STATE_HOST_MISMATCH')
  })

  describe('[N5] a lost transaction with a fixed base URL', () => {
    interface Hosts {
      readonly appBaseUrl: string
      readonly start: Record<string, string>
      readonly end: Record<string, string>
    }

    /** The error of a callback whose login started with other headers, in a browser that has no cookie for its host. */
    async function reason({ appBaseUrl, start, end }: Hosts): Promise<unknown> {
      const { client } = world.another({ appBaseUrl })
      const login = await client.middleware(new Request(`${appBaseUrl}/auth/login`, { headers: start }))
      const state = new URL(login.headers.get('location') ?? '').searchParams.get('state')
      const callback = `${appBaseUrl}/auth/callback?code=unused&state=${state}`
      return codeOf(await client.middleware(new Request(callback, { headers: { ...json.headers, ...end } })))
    }

    test.each<[string, Hosts]>([
      [
        '127.0.0.1 instead of localhost',
        { appBaseUrl: APP, start: { host: '127.0.0.1:3000' }, end: { host: 'localhost:3000' } },
      ],
      [
        'the address of this machine in its network instead of localhost',
        { appBaseUrl: APP, start: { host: '192.168.1.5:3000' }, end: { host: 'localhost:3000' } },
      ],
      [
        'www instead of the apex',
        {
          appBaseUrl: 'https://example.com',
          start: { host: 'www.example.com' },
          end: { host: 'example.com' },
        },
      ],
      [
        'www instead of the apex, behind a proxy that names it in a header',
        {
          appBaseUrl: 'https://example.com',
          start: { host: 'app:3000', 'x-forwarded-host': 'www.example.com' },
          end: { host: 'app:3000', 'x-forwarded-host': 'example.com' },
        },
      ],
    ])('%s is explained', async (_name, hosts) => {
      expect(await reason(hosts)).toBe('STATE_HOST_MISMATCH')
    })

    test.each<[string, string, string]>([
      ['one host', 'app.example.com', 'app.example.com'],
      ['another port', 'app.example.com:8443', 'app.example.com'],
      ['a proxy with the host of its upstream', '10.0.0.5:3000', '10.0.0.5:3000'],
      ['several upstreams', '10.0.0.5:3000', '10.0.0.6:3000'],
      ['several upstreams with names', 'web-1.cluster.example.net', 'web-2.cluster.example.net'],
      ['a second proxy with an internal host', 'app:3000', 'app.example.com'],
      ['a second proxy on this machine', 'app.example.com', '127.0.0.1:3000'],
      ['a name in a private network', 'app.svc.cluster.local', 'app.example.com'],
      ['a private IPv6 address', '[fd00::5]:3000', 'app.example.com'],
      ['something that is no host', 'a b', 'app.example.com'],
    ])('%s is not', async (_name, start, end) => {
      const hosts = { appBaseUrl: 'https://app.example.com', start: { host: start }, end: { host: end } }
      expect(await reason(hosts)).toBe('UNKNOWN_STATE')
    })

    test('the host never refuses a login whose transaction is there', async () => {
      const browser = world.newBrowser()
      const started = browser.request('/auth/login')
      started.headers.set('host', 'www.example.com')
      const login = browser.store(await world.client.middleware(started))
      const callback = await world.authorize(login.headers.get('location') ?? '')
      expect((await browser.send(callback)).status).toBe(302)
      expect(await signedIn(browser)).toBe('dev|alice')
    })
  })

  test.each([
    ['in cookies', undefined],
    ['in a store', memoryStore({ name: 'lost' })],
  ])(
    'sessions %s: if the transaction was lost the page restarts the login once, with its returnTo',
    async (_, sessionStore) => {
      const { browser } = world.another(sessionStore && { sessionStore })
      const callback = await world.authorize(await world.begin(browser, '?returnTo=/kept%3Fa%3Db'))
      browser.cookies.clear()
      const first = await browser.send(callback)
      expect(first.status).toBe(400)
      expect(first.headers.get('content-type')).toContain('text/html')
      const html = await first.text()
      expect(html).toMatch(/http-equiv="refresh"/i)
      expect(html).toContain('/auth/login?returnTo=%2Fkept%3Fa%3Db')
      expect(await (await browser.send(callback)).text()).not.toMatch(/http-equiv="refresh"/i)
      expect(browser.names('__txn_')).toEqual(['__txn_restart'])
      await world.login(browser)
      expect(browser.names('__txn_')).toEqual([])
    },
  )

  test('a browser without cookies gets one restart, then a page with a link, never an endless loop', async () => {
    const browser = world.newBrowser()
    const pages: string[] = []
    let login: string | undefined = '/auth/login?returnTo=/kept'
    while (login !== undefined && pages.length < 5) {
      const begun = await browser.send(login)
      browser.cookies.clear()
      const callback = await world.authorize(begun.headers.get('location') ?? '')
      const page = await (await browser.send(callback)).text()
      browser.cookies.clear()
      pages.push(page)
      login = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(pages).toHaveLength(2)
    // The user may try again, and that attempt may be restarted again.
    expect(pages[1]).toContain('href="/auth/login?returnTo=%2Fkept">Try again</a>')
    expect(
      world.provider
        .requests('authorize')
        .map(({ url }) => url)
        .join(),
    ).not.toContain('restarted')
  })

  test('if the transaction was lost but the user is signed in, the callback redirects to the page', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/kept'))
    for (const name of browser.names('__txn_')) browser.cookies.delete(name)
    await world.login(browser)
    world.provider.clearRequests()
    const response = await browser.send(callback)
    expect(response.headers.get('location')).toBe(`${APP}/kept`)
    expect(world.provider.count('token')).toBe(0)
  })
})

describe('responses of the provider', () => {
  test('denied consent gives a 4xx page with a link, logged at info, that reflects nothing', async () => {
    const browser = world.newBrowser()
    const response = await world.login(browser, '', { deny: true })
    expect(response.status).toBe(400)
    expect(browser.names('__txn_')).toEqual([])
    expect(world.events).toContainEqual(
      expect.objectContaining({
        level: 'info',
        code: 'LOGIN_FAILED',
        error: 'AUTHORIZATION_ERROR',
        providerError: 'access_denied',
      }),
    )
    expect(await response.text()).toContain('/auth/login')
  })

  test('prompt=none without a session at the provider calls onCallback once, without a loop', async () => {
    const calls: OnCallbackContext[] = []
    const { browser } = world.another({
      onCallback: (context) => {
        calls.push(context)
        return context.error ? { returnTo: '/signed-out' } : undefined
      },
    })
    const response = await world.login(browser, '?prompt=none&returnTo=/silent')
    expect(response.headers.get('location')).toBe(`${APP}/signed-out`)
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({
      session: null,
      returnTo: '/silent',
      error: { code: 'AUTHORIZATION_ERROR' },
    })
    expect(calls[0]?.error?.cause).toMatchObject({ error: 'login_required' })
  })

  describe('a login page of Keycloak that was left open while the user logged in in another tab', () => {
    /** The callback to which Keycloak sends the browser then. */
    const toExpired = (authorization: string): string => {
      const state = new URL(authorization).searchParams.get('state') ?? ''
      const error = { error: 'temporarily_unavailable', error_description: 'authentication_expired' }
      return `/auth/callback?${new URLSearchParams({ ...error, state, iss: world.provider.issuer })}`
    }

    test('leads to the page that the tab wanted to show', async () => {
      const browser = world.newBrowser()
      const open = await world.begin(browser, `?returnTo=/tab?q=${'x'.repeat(300)}`)
      await world.login(browser)
      const response = await browser.send(toExpired(open))
      expect(response.headers.get('location')).toBe(`${APP}/tab?q=${'x'.repeat(300)}`)
      expect(await signedIn(browser)).toBe('dev|alice')
      expect(browser.names('__txn_')).toEqual([])
    })

    test('starts the login again without a session, once', async () => {
      const browser = world.newBrowser()
      const first = await browser.send(toExpired(await world.begin(browser, '?returnTo=/tab')))
      const page = await first.text()
      expect(first.status).toBe(400)
      expect(world.events).toContainEqual(expect.objectContaining({ level: 'warn', error: 'EXPIRED_STATE' }))
      const [, restart = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page) ?? []
      expect(restart).toContain('returnTo=%2Ftab')
      const begun = await browser.send(restart.replaceAll('&amp;', '&'))
      const second = await browser.send(toExpired(begun.headers.get('location') ?? ''))
      expect(await second.text()).not.toMatch(/http-equiv="refresh"/i)
    })

    test('any other error of that kind is shown', async () => {
      const browser = world.newBrowser()
      const callback = toExpired(await world.begin(browser)).replace('authentication_expired', 'maintenance')
      await world.login(browser)
      expect((await browser.send(callback)).status).toBe(400)
    })
  })

  describe.each(['request_forbidden', 'request_unauthorized'])(
    'a login that Ory has lost (%s), which keeps one per browser, for half an hour',
    (error) => {
      const toLost = (authorization: string): string => {
        const state = new URL(authorization).searchParams.get('state') ?? ''
        return `/auth/callback?${new URLSearchParams({ error, state, iss: world.provider.issuer })}`
      }

      test('leads to the page if the user has logged in in another tab', async () => {
        const browser = world.newBrowser()
        const open = await world.begin(browser, '?returnTo=/tab')
        await world.login(browser)
        expect((await browser.send(toLost(open))).headers.get('location')).toBe(`${APP}/tab`)
      })

      test('starts again without a session, once, which is also the advice', async () => {
        const browser = world.newBrowser()
        world.events.length = 0
        const first = await (await browser.send(toLost(await world.begin(browser)))).text()
        const failed = { code: 'LOGIN_FAILED', advice: 'Start at the login route again.' }
        expect(world.events).toContainEqual(expect.objectContaining(failed))
        const [, restart = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(first) ?? []
        const begun = await browser.send(restart.replaceAll('&amp;', '&'))
        const second = await browser.send(toLost(begun.headers.get('location') ?? ''))
        expect([second.status, await second.text()]).toEqual([
          400,
          expect.not.stringMatching(/http-equiv="refresh"/),
        ])
      })

      test('ends with an older session, with which a guard that requires more would start logins without end', async () => {
        const browser = world.newBrowser()
        await world.login(browser)
        world.clock.now += 1
        const lost = await browser.send(toLost(await world.begin(browser, '?acr_values=gold')))
        expect([lost.status, await lost.text()]).toEqual([
          400,
          expect.not.stringMatching(/http-equiv="refresh"/),
        ])
        expect(browser.names('__txn_')).toEqual([])
        expect(await signedIn(browser)).toBe('dev|alice')
      })
    },
  )

  test('markup in every parameter is not in the response', async () => {
    const browser = world.newBrowser()
    const callback = new URL(await world.authorize(await world.begin(browser), { user: 'alice', deny: true }))
    for (const name of ['error', 'error_description', 'error_uri', 'extra']) {
      callback.searchParams.set(name, '"><script>alert(1)</script>\r\nX-Evil: 1')
    }
    const response = await browser.send(callback.href)
    expect(response.status).toBe(400)
    expect(response.headers.get('x-evil')).toBeNull()
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await response.text()).not.toMatch(/<script>alert|X-Evil/)
  })

  test('[I2] a repeated state keeps the transaction: the right callback completes', async () => {
    const url = new URL(await world.authorize(await world.begin(world.browser)))
    const state = url.searchParams.get('state') ?? ''
    world.provider.clearRequests()
    for (const other of [state, 'a', '']) {
      const repeated = new URL(url)
      repeated.searchParams.append('state', other)
      const response = await world.browser.send(`${repeated.pathname}${repeated.search}`)
      expect(response.status).toBe(400)
      expect(response.headers.getSetCookie().filter((cookie) => cookie.startsWith('__txn_'))).toEqual([])
    }
    expect(world.provider.requests('token')).toEqual([])
    expect((await world.browser.send(`${url.pathname}${url.search}`)).status).toBe(302)
    expect(await world.client.getSession(world.browser.request('/'))).not.toBeNull()
  })

  test.each(['code', 'iss', 'error'])('a repeated %s: 400, no token request', async (name) => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser))
    const response = await browser.send(`${callback}&${name}=x&${name}=y`, json)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('INVALID_CALLBACK')
    expect(world.provider.count('token')).toBe(0)
    expect(browser.names('__txn_')).toEqual([])
  })

  test.each([
    ['wrong', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['missing', (url: URL) => url.searchParams.delete('iss')],
    ['with a slash more', (url: URL) => url.searchParams.set('iss', `${url.searchParams.get('iss')}/`)],
  ])('iss %s: rejected before the code is sent', async (_, change) => {
    const browser = world.newBrowser()
    const callback = new URL(await world.authorize(await world.begin(browser)))
    change(callback)
    const response = await browser.send(callback.href, json)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('ISSUER_MISMATCH')
    expect(world.provider.count('token')).toBe(0)
  })

  test('tokens in the callback are ignored', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser))
    const response = await browser.send(
      `${callback}&access_token=evil&id_token=evil&response=evil&session_state=x`,
    )
    expect(response.status).toBe(302)
    expect((await world.client.getSession(browser.request('/')))?.tokenSet.accessToken).not.toBe('evil')
  })

  test('a failed login leaves an existing session untouched', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const before = browser.cookies.get('__session')?.value
    await world.login(browser, '?prompt=login', { deny: true })
    const remove = world.provider.tamperIdToken((claims) => {
      claims['nonce'] = 'other'
    })
    expect((await world.login(browser, '?prompt=login')).status).toBe(502)
    remove()
    expect(browser.cookies.get('__session')?.value).toBe(before)
  })

  test('a new login replaces the session: other session key, other creation time', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const first = await world.client.getSession(browser.request('/'))
    world.clock.now += 5
    await world.login(browser, '', { user: 'bob' })
    const second = await world.client.getSession(browser.request('/'))
    world.clock.now -= 5
    expect(second?.user.sub).not.toBe(first?.user.sub)
    expect(second?.internal.createdAt).toBe((first?.internal.createdAt ?? 0) + 5)
  })
})
