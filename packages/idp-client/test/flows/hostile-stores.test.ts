import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, SessionData, SessionDataStore } from '../../src/index.ts'
import { SessionStoreError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

type Member = keyof SessionDataStore

/** Every call to a real store; members can be made to fail. */
const calls: Member[] = []
const down = new Set<Member>()

function watched(members?: readonly Member[]): SessionDataStore {
  const store = memoryStore({ name: crypto.randomUUID() })
  const names = members ?? (Object.keys(store) as Member[])
  const entries = names.map((name) => {
    const work = store[name] as (...given: unknown[]) => Promise<unknown>
    return [
      name,
      async (...given: unknown[]) => {
        calls.push(name)
        if (down.has(name)) throw new Error('the store is down')
        return work(...given)
      },
    ]
  })
  return Object.fromEntries(entries) as SessionDataStore
}

const least: readonly Member[] = ['get', 'set', 'delete']

let world: World
let plain: { client: IdpClient; browser: Browser }
beforeAll(async () => {
  world = await startWorld({ sessionStore: watched(), enableConnectAccountEndpoint: true })
  plain = world.another({ sessionStore: watched(least) })
})
afterAll(() => world.provider.stop())

let browser: Browser
beforeEach(async () => {
  browser = world.newBrowser()
  await world.login(browser)
  calls.length = 0
})
afterEach(() => down.clear())

function pass(seconds: number): void {
  world.clock.now += seconds
}

/** The calls to the store meanwhile, without those for locks. */
async function asked(work: () => unknown): Promise<string> {
  calls.length = 0
  await work()
  return calls.filter((name) => name !== 'lock').join(' ')
}

const update = async (client: IdpClient, request: Request, changes: object): Promise<void> => {
  const session = (await client.getSession(request)) as SessionData
  await client.updateSession(request, new Headers(), { ...session, ...changes })
}

describe('one request asks the store once', () => {
  const audience = 'https://api.example.test/'

  test.each<[string, string, (request: Request) => unknown]>([
    [
      'getSession, however often',
      'get',
      async (x) => {
        await Promise.all(Array.from({ length: 5 }, () => world.client.getSession(x)))
        await world.client.getSession(x)
      },
    ],
    ['a request that passes', 'get', (x) => world.client.middleware(x)],
    [
      'middleware, guard and handler',
      'get',
      (x) =>
        world.client.middleware(
          x,
          world.client.withApiAuthRequired(async (inner) => {
            await world.client.getSession(inner)
            return Response.json(await world.client.getAccessToken(inner))
          }),
        ),
    ],
    [
      'a valid access token, several times',
      'get',
      async (x) => {
        await world.client.getAccessToken(x)
        await world.client.getAccessToken(x)
      },
    ],
    ['createFetcher', 'get', (x) => world.client.createFetcher(x)],
    ['updateSession', 'get update', (x) => update(world.client, x, { theme: 'dark' })],
    ['currentId', 'get', (x) => world.client.sessions.currentId(x)],
    [
      'a prefetch',
      '',
      (x) =>
        world.client.middleware(
          new Request(x, { headers: { ...Object.fromEntries(x.headers), 'sec-purpose': 'prefetch' } }),
        ),
    ],
  ])('%s: %s', async (_name, expected, work) => {
    expect(await asked(() => work(browser.request('/')))).toBe(expected)
  })

  test.each<[string, string]>([
    ['/auth/profile', 'get'],
    ['/auth/access-token', 'get'],
    ['/auth/login', ''],
    ['/auth/logout', 'get delete'],
  ])('%s: %s', async (path, expected) => {
    expect(await asked(() => browser.send(path))).toBe(expected)
  })

  test('a roll: one write more', async () => {
    pass(400)
    expect(await asked(() => browser.send('/'))).toBe('get update')
    expect(await asked(() => browser.send('/'))).toBe('get')
  })

  test('a refresh: one read more, under the lock', async () => {
    pass(3601)
    expect(await asked(() => browser.send('/auth/access-token'))).toBe('get get update')
  })

  test('a token for another audience, and for a connection: the same', async () => {
    expect(
      await asked(() => world.client.getAccessToken(browser.request('/'), new Headers(), { audience })),
    ).toBe('get get update')
    const connection = { connection: 'google-oauth2' }
    expect(
      await asked(() =>
        world.client.getAccessTokenForConnection(browser.request('/'), new Headers(), connection),
      ),
    ).toBe('get get update')
  })

  test('a login over a session: its record is deleted, and a concurrent logout is detected', async () => {
    expect(await asked(() => world.login(browser))).toBe('set delete endedAt')
  })

  test('a store of three methods reads once more before it writes', async () => {
    await world.login(plain.browser)
    expect(await asked(() => plain.browser.send('/'))).toBe('get')
    pass(400)
    expect(await asked(() => plain.browser.send('/'))).toBe('get get set')
    expect(await asked(() => update(plain.client, plain.browser.request('/'), { a: 1 }))).toBe('get get set')
    pass(3601)
    expect(await asked(() => plain.client.getAccessToken(plain.browser.request('/')))).toBe('get get set')
    expect(await asked(() => plain.browser.send('/auth/logout'))).toBe('get delete')
  })
})

describe('a store that is down', () => {
  const routes = ['/auth/profile', '/auth/access-token']

  test('no session ends and none is created', async () => {
    down.add('get')
    for (const path of routes) {
      const response = await browser.send(path)
      expect([path, response.status]).toEqual([path, 503])
      expect(response.headers.getSetCookie()).toEqual([])
    }
    const guarded = world.client.withApiAuthRequired(async () => new Response('let in'))
    expect((await guarded(browser.request('/api'))).status).toBe(503)
    const page = world.client.withPageAuthRequired(async () => new Response('let in'))
    await expect(page(browser.request('/page'))).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
    await expect(world.client.getSession(browser.request('/'))).rejects.toMatchObject({
      code: 'SESSION_STORE_FAILED',
    })
    expect((await browser.send('/')).headers.getSetCookie()).toEqual([])
    down.clear()
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test('a logout continues at the provider, and the browser has no session', async () => {
    for (const member of ['get', 'set', 'delete', 'update', 'lock'] as const) down.add(member)
    const response = await browser.send('/auth/logout')
    expect(response.status).toBe(302)
    expect(browser.names('__session')).toEqual([])
  })

  test('a login that cannot be stored: 503, no cookie, and the previous session stays', async () => {
    const before = new Map(browser.cookies)
    down.add('set')
    const response = await world.login(browser)
    expect(response.status).toBe(503)
    expect(browser.cookies.get('__session')).toEqual(before.get('__session'))
    down.clear()
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test('one failed call fails one request', async () => {
    down.add('get')
    await browser.send('/auth/profile')
    down.clear()
    for (const path of routes) expect((await browser.send(path)).status).toBe(200)
  })
})

describe('concurrent requests', () => {
  test('a late identical callback does not change the session', async () => {
    const callback = await world.authorize(await world.begin(browser))
    const twin = browser.request(callback)
    await browser.send(callback)
    const request = browser.request('/')
    await update(world.client, request, { cart: ['book'] })
    // Once with the cookies from before the first response, once with those that it set.
    const cookie = `${twin.headers.get('cookie')}; ${browser.request('/').headers.get('cookie')}`
    for (const again of [
      twin,
      new Request(twin, { headers: { ...Object.fromEntries(twin.headers), cookie } }),
    ]) {
      const joined = browser.store(await world.client.middleware(again))
      expect(joined.status).toBe(302)
    }
    expect(await world.client.getSession(browser.request('/'))).toMatchObject({ cart: ['book'] })
  })

  test('a late identical callback of a connection does not change the session', async () => {
    const started = await browser.send('/auth/connect?connection=github')
    const callback = await world.authorize(started.headers.get('location') ?? '', { connect: 'accept' })
    const twin = browser.request(callback)
    world.events.length = 0
    await browser.send(callback)
    const request = browser.request('/')
    const { token } = await world.client.getAccessToken(request, new Headers(), { refresh: true })
    await update(world.client, request, { cart: ['book'] })
    browser.store(await world.client.middleware(twin))
    expect(world.events.filter(({ code }) => code === 'CONNECT_COMPLETED')).toHaveLength(1)
    const after = await world.client.getSession(browser.request('/'))
    expect(after).toMatchObject({ cart: ['book'], tokenSet: { accessToken: token } })
    expect((await world.client.getAccessToken(request, new Headers(), { refresh: true })).token).not.toBe(
      token,
    )
  })

  test('a late identical callback does not restore the session after a logout', async () => {
    const callback = await world.authorize(await world.begin(browser))
    const twin = browser.request(callback)
    await browser.send(callback)
    await browser.send('/auth/logout')
    browser.store(await world.client.middleware(twin))
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('a late identical callback reports no login if the session was removed because the store failed', async () => {
    const callback = await world.authorize(await world.begin(browser))
    const twin = browser.request(callback)
    world.events.length = 0
    down.add('endedAt')
    expect((await browser.send(callback)).status).toBe(503)
    down.clear()
    browser.store(await world.client.middleware(twin))
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect(world.events.map(({ code }) => code)).not.toContain('LOGIN_COMPLETED')
  })

  test('a login while the token of the previous session is refreshed leaves the new session only', async () => {
    pass(3601)
    const late = browser.request('/')
    const [callback] = [await world.authorize(await world.begin(browser), { user: 'bob' })]
    const [refresh] = await Promise.allSettled([
      world.client.getAccessToken(late, new Headers()),
      browser.send(callback),
    ])
    if (refresh.status === 'rejected') expect(refresh.reason).toMatchObject({ code: 'MISSING_SESSION' })
    expect((await world.client.getSession(browser.request('/')))?.user.sub).toBe('dev|bob')
    expect(await world.client.getSession(new Request(late))).toBeNull()
  })
})

test('an update that began before a refresh of the same request keeps the new tokens', async () => {
  pass(3601)
  const request = browser.request('/')
  const session = (await world.client.getSession(request)) as SessionData
  const { token } = await world.client.getAccessToken(request, new Headers())
  await world.client.updateSession(request, new Headers(), { ...session, theme: 'dark' })
  const after = await world.client.getSession(browser.request('/'))
  expect(after).toMatchObject({ theme: 'dark', tokenSet: { accessToken: token } })
  expect(after?.tokenSet.refreshToken).not.toBe(session.tokenSet.refreshToken)
})

test('a hook that returns values that JSON cannot represent fails the login, in cookies and in a store', async () => {
  for (const options of [{ sessionStore: watched() }, { sessionStore: undefined }]) {
    const hooked = world.another({
      ...options,
      beforeSessionSaved: (session) => ({ ...session, amount: 1n }),
    })
    const callback = await world.authorize(await world.begin(hooked.browser))
    const response = await hooked.browser.send(callback, { headers: { accept: 'application/json' } })
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'HOOK_FAILED' } }])
    expect(hooked.browser.names('__session')).toEqual([])
  }
})

describe('revocation at logout', () => {
  test('an endpoint that never responds blocks no user', async () => {
    // Longer than this test may take: what ends the wait is the bound of the logout itself.
    const patient = world.another({ httpTimeout: 60_000 })
    await world.login(patient.browser)
    const remove = world.provider.faults.set('revocation', { kind: 'hang' })
    try {
      expect((await patient.browser.send('/auth/logout')).status).toBe(302)
      expect((await patient.browser.send('/auth/profile')).status).toBe(401)
    } finally {
      remove()
    }
  })

  test('an endpoint that never responds delays no user with private_key_jwt either', async () => {
    const { clientId, privateKey } = world.provider.keyClient
    const keyed = world.another({ clientId, clientSecret: undefined, clientAssertionSigningKey: privateKey })
    await world.login(keyed.browser)
    world.provider.clearRequests()
    await keyed.browser.send('/auth/logout')
    expect(world.provider.requests('revocation')).toMatchObject([
      { status: 200, body: { client_assertion: expect.any(String), token_type_hint: 'refresh_token' } },
    ])
  })
})

test('an error of another copy of the package, with a code that this one does not have, is an unexpected one', async () => {
  const store = memoryStore({ name: crypto.randomUUID() })
  const other = Object.assign(new SessionStoreError('SESSION_STORE_FAILED', { operation: 'get' }), {
    code: 'NEW_CODE',
    remedy: 'NEW_CODE',
  })
  const get = (): Promise<never> => Promise.reject(other)
  const { browser, client } = world.another({ sessionStore: { ...store, get } })
  await world.login(browser)
  world.events.length = 0
  const response = await browser.send('/auth/profile')
  expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'INTERNAL_ERROR' } }])
  expect(world.events).toContainEqual(
    expect.objectContaining({ code: 'REQUEST_FAILED', error: 'INTERNAL_ERROR', advice: expect.any(String) }),
  )
  await expect(client.getSession(browser.request('/'))).rejects.toBe(other)
})
