import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions, LogoutToken, SessionDataStore } from '../../src/index.ts'
import { IdpClient, isContinue } from '../../src/index.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { listenerOf, startFront } from '../support/front.ts'
import type { LogoutWorld, ToldStore } from '../support/logout-world.ts'
import { deliver, post, ROUTE, readResponse, startLogoutWorld, toldStore } from '../support/logout-world.ts'
import { rejectionOf } from '../support/provider-engine.ts'

const SUB = 'dev|alice'

let world: LogoutWorld
beforeAll(async () => {
  world = await startLogoutWorld()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.events.length = 0
  world.store.told.length = 0
  world.store.failing.clear()
  // A logout of the user in an earlier test would end a login of the same second.
  world.clock.now += 1
})

/** Another application of the same client at the same provider, with sessions of its own unless told otherwise. */
function another(options: IdpClientOptions = {}): IdpClient {
  return world.another({ sessionStore: toldStore(), ...options }).client
}

interface Signal {
  readonly given: Promise<void>
  give(): void
}

function signal(): Signal {
  let give = (): void => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}

const statusOf = async (
  response: Promise<{ status: number; code: string | undefined }>,
): Promise<unknown> => {
  const { code, status } = await response
  return code === undefined ? status : [status, code]
}

describe('notifications of the provider', () => {
  test('[S147,S240,S241] all sessions of a user end at once; others continue', async () => {
    const [one, two, other] = [await world.signedIn(), await world.signedIn(), await world.signedIn('bob')]
    const before = world.provider.logoutNotices().length
    await world.provider.endSessions('alice')
    const notices = world.provider.logoutNotices().slice(before)
    expect(notices.map(({ status, url }) => [status, new URL(url).pathname])).toEqual([
      [200, ROUTE],
      [200, ROUTE],
    ])
    expect(await Promise.all([one, two, other].map((browser) => world.userOf(browser)))).toEqual([
      null,
      null,
      'dev|bob',
    ])
    expect(world.events.filter(({ code }) => code === 'BACKCHANNEL_LOGOUT')).toEqual([
      { level: 'info', code: 'BACKCHANNEL_LOGOUT', ended: 'session', id: expect.any(String) },
      { level: 'info', code: 'BACKCHANNEL_LOGOUT', ended: 'session', id: expect.any(String) },
    ])
  })

  test('a logout elsewhere ends the session of that browser, and no other of the user', async () => {
    const jar = world.provider.createJar()
    const [here, elsewhere] = [world.newBrowser(), await world.signedIn()]
    await world.login(here, '', { user: 'alice', jar })
    await world.provider.visit(`${world.provider.origin}/v2/logout?client_id=${world.provider.clientId}`, {
      jar,
    })
    expect([await world.userOf(here), await world.userOf(elsewhere)]).toEqual([null, SUB])
  })

  test('routes and operations of the application apply it immediately', async () => {
    const browser = await world.signedIn()
    expect((await browser.send('/auth/access-token')).status).toBe(200)
    await world.provider.endSessions('alice')
    expect((await browser.send('/auth/profile')).status).toBe(401)
    const ended = await rejectionOf(world.client.getAccessToken(browser.request('/')))
    expect(ended['code']).toBe('MISSING_SESSION')
  })

  test('the cookie of an ended session is deleted by the next page', async () => {
    const browser = await world.signedIn()
    await deliver(world.client, await world.provider.logoutToken({ sid: await world.sidOf(browser) }))
    expect(browser.names('__session')).toEqual(['__session'])
    expect(isContinue(await browser.send('/'))).toBe(true)
    expect(browser.names('__session')).toEqual([])
  })

  test('a pending refresh does not restore the session', async () => {
    const [asked, held] = [signal(), signal()]
    const slow = another({
      sessionStore: world.store,
      [customFetch]: async (input, init) => {
        if (String(init?.body).includes('grant_type=refresh_token')) {
          asked.give()
          await held.given
        }
        return fetch(input, init)
      },
    })
    const browser = await world.signedIn()
    const refreshing = rejectionOf(slow.getAccessToken(browser.request('/'), undefined, { refresh: true }))
    await asked.given
    expect(
      (await deliver(world.client, await world.provider.logoutToken({ sid: await world.sidOf(browser) })))
        .status,
    ).toBe(200)
    held.give()
    expect((await refreshing)['code']).toBe('MISSING_SESSION')
    expect([await world.userOf(browser), await world.userOf(browser, slow)]).toEqual([null, null])
  })

  test('[S149] routes.backChannelLogout moves the route; the old path belongs to the application', async () => {
    const store = toldStore()
    const client = another({ sessionStore: store, routes: { backChannelLogout: '/bye' } })
    const front = await startFront(listenerOf((request) => client.middleware(request)))
    onTestFinished(front.stop)
    world.provider.registerApp(front.url, { backChannelLogout: '/bye' })
    const token = await world.provider.logoutToken({ sub: SUB })
    expect(await statusOf(post(client, new URLSearchParams({ logout_token: token }), {}, '/bye'))).toBe(200)
    expect(isContinue(await client.middleware(new Request(APP + ROUTE, { method: 'POST' })))).toBe(true)
    await world.signedIn()
    await world.provider.endSessions('alice')
    expect(store.told.map(({ sub }) => sub)).toContain(SUB)
  })
})

describe('arguments of deleteByLogoutToken', () => {
  test('[S019,S021] contain the user, the session, the issuer and the time, if the token does', async () => {
    expectTypeOf<LogoutToken>().toEqualTypeOf<{ sub?: string; sid?: string; iss?: string; iat?: number }>()
    expectTypeOf<SessionDataStore['deleteByLogoutToken']>().toEqualTypeOf<
      ((logoutToken: LogoutToken) => Promise<void>) | undefined
    >()
    const iss = world.provider.issuer
    for (const subject of [{ sub: 's' }, { sid: 'x' }, { sub: 's', sid: 'x' }]) {
      const response = await deliver(world.client, await world.provider.logoutToken(subject))
      expect([response.status, response.text]).toEqual([200, ''])
      expect(world.store.told.splice(0)).toEqual([{ ...subject, iss, iat: world.clock.now }])
    }
  })

  test('with sub alone end every session of the user, with sid alone one session', async () => {
    const [one, two, three] = [await world.signedIn(), await world.signedIn(), await world.signedIn('bob')]
    const users = (): Promise<unknown[]> =>
      Promise.all([one, two, three].map((browser) => world.userOf(browser)))
    await deliver(world.client, await world.provider.logoutToken({ sid: await world.sidOf(one) }))
    expect(await users()).toEqual([null, SUB, 'dev|bob'])
    await deliver(world.client, await world.provider.logoutToken({ sub: SUB }))
    expect(await users()).toEqual([null, null, 'dev|bob'])
    expect(
      world.events.flatMap((event) => (event.code === 'BACKCHANNEL_LOGOUT' ? [event.ended] : [])),
    ).toEqual(['session', 'user'])
  })

  test('a logout of an unknown session or user succeeds without effect', async () => {
    const browser = await world.signedIn()
    for (const subject of [{ sid: 'unknown' }, { sub: 'unknown' }, { sub: 'unknown', sid: 'unknown' }]) {
      const response = await deliver(world.client, await world.provider.logoutToken(subject))
      expect([response.status, response.text]).toEqual([200, ''])
    }
    expect(await world.userOf(browser)).toBe(SUB)
  })

  test('sessions of another provider in the same store continue, even with the same sub and sid', async () => {
    const other = await startLogoutWorld({ sessionStore: world.store })
    onTestFinished(() => other.stop())
    const browser = await other.signedIn()
    const sid = await other.sidOf(browser)
    expect((await deliver(world.client, await world.provider.logoutToken({ sub: SUB }))).status).toBe(200)
    expect((await deliver(world.client, await world.provider.logoutToken({ sid }))).status).toBe(200)
    expect(await other.userOf(browser)).toBe(SUB)
    await other.provider.endSessions('alice')
    expect(await other.userOf(browser)).toBeNull()
  })

  test('a session that is changed while it ends stays ended, in a store without atomic updates', async () => {
    const whole = toldStore()
    const { get, set, delete: remove, deleteByLogoutToken } = whole
    let change = async (): Promise<void> => {}
    let changing: Promise<void> | undefined
    const store: SessionDataStore = {
      get,
      set,
      delete: remove,
      async deleteByLogoutToken(token) {
        changing = change()
        changing.catch(() => {})
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
        await deleteByLogoutToken(token)
      },
    }
    const client = another({ sessionStore: store })
    const browser = await world.signedIn()
    // The same session, in the store of this test.
    for (const { id, session } of await world.store.listBySubject(SUB)) {
      await whole.set(id, session, { expiresAt: 4_102_444_800 })
    }
    const sid = await world.sidOf(browser)
    const request = browser.request('/')
    const session = await client.getSession(request)
    if (!session) throw new Error('there is a session')
    change = () => client.updateSession(request, new Response(), { ...session, more: 1 })
    expect((await deliver(client, await world.provider.logoutToken({ sid }))).status).toBe(200)
    await expect(changing).rejects.toMatchObject({ code: 'MISSING_SESSION' })
    expect(await world.userOf(browser, client)).toBeNull()
  })
})

describe('a token is used once', () => {
  const replayed = [400, 'LOGOUT_TOKEN_REPLAYED']
  const stores: [string, () => SessionDataStore & Pick<ToldStore, 'told' | 'failing'>][] = [
    ['remembers names', toldStore],
    [
      'remembers none',
      () => {
        const { once: _none, ...rest } = toldStore()
        return rest
      },
    ],
  ]

  test.each(stores)('a replay ends no later session; the store %s', async (_title, make) => {
    const store = make()
    const client = another({ sessionStore: store })
    const token = await world.provider.logoutToken({ sub: SUB })
    expect(await statusOf(deliver(client, token))).toBe(200)
    expect(await statusOf(deliver(client, token))).toEqual(replayed)
    expect(store.told).toHaveLength(1)
    expect(await statusOf(deliver(client, await world.provider.logoutToken({ sub: SUB })))).toBe(200)
  })

  test('a replay does not end the session of the next login', async () => {
    const token = await world.provider.logoutToken({ sub: SUB })
    const before = await world.signedIn()
    expect(await statusOf(deliver(world.client, token))).toBe(200)
    expect(await world.userOf(before)).toBeNull()
    world.clock.now += 1
    const after = await world.signedIn()
    expect(await statusOf(deliver(world.client, token))).toEqual(replayed)
    expect(await world.userOf(after)).toBe(SUB)
  })

  test('a replay at another process that shares the store is rejected', async () => {
    const name = randomUUID()
    const stores = [toldStore(name), toldStore(name), toldStore(name)]
    const clients = stores.map((store) => another({ sessionStore: store }))
    const token = await world.provider.logoutToken({ sub: SUB })
    const responses: unknown[] = []
    for (const client of [...clients, ...clients]) responses.push(await statusOf(deliver(client, token)))
    expect(responses).toEqual([200, replayed, replayed, replayed, replayed, replayed])
    expect(stores.flatMap(({ told }) => told)).toHaveLength(1)
  })

  test('the same jti of another provider or client is independent', async () => {
    const other = await startLogoutWorld({ sessionStore: world.store })
    onTestFinished(() => other.stop())
    const { clientId, clientSecret = '' } = await world.provider.addClient()
    const change = (claims: Record<string, unknown>): void => {
      claims['jti'] = 'the-same'
    }
    const second = another({ sessionStore: world.store, clientId, clientSecret })
    const responses = [
      deliver(world.client, await world.provider.logoutToken({ sub: SUB }, { change })),
      deliver(second, await world.provider.logoutToken({ sub: SUB }, { change, clientId })),
      deliver(other.client, await other.provider.logoutToken({ sub: SUB }, { change })),
    ]
    expect(await Promise.all(responses.map(statusOf))).toEqual([200, 200, 200])
  })

  test.each(stores)('concurrent deliveries delete once; the store %s', async (_title, make) => {
    const store = make()
    const client = another({ sessionStore: store })
    const token = await world.provider.logoutToken({ sub: SUB })
    const responses = await Promise.all(Array.from({ length: 5 }, () => deliver(client, token)))
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect(responses.filter(({ status }) => status !== 200 && status !== 400)).toEqual([])
    expect(store.told).toHaveLength(1)
  })

  test.each(stores)(
    'a delivery that failed can be repeated, and then counts once; the store %s',
    async (_title, make) => {
      const store = make()
      const client = another({ sessionStore: store })
      const token = await world.provider.logoutToken({ sub: SUB })
      store.failing.add('deleteByLogoutToken')
      for (let attempt = 0; attempt < 2; attempt++) {
        const response = await deliver(client, token)
        expect([response.status, response.code]).toEqual([503, 'SESSION_STORE_FAILED'])
        expect(response.text).not.toContain('is down')
      }
      store.failing.clear()
      expect(await statusOf(deliver(client, token))).toBe(200)
      expect(await statusOf(deliver(client, token))).toEqual(replayed)
      expect(store.told).toHaveLength(1)
    },
  )

  test('nothing is lost if the store fails to remember the jti: the provider may repeat the delivery', async () => {
    const browser = await world.signedIn()
    const token = await world.provider.logoutToken({ sid: await world.sidOf(browser) })
    world.store.failing.add('once')
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await statusOf(deliver(world.client, token))).toEqual([503, 'SESSION_STORE_FAILED'])
    }
    expect(await world.userOf(browser)).toBe(SUB)
    world.store.failing.clear()
    expect(await statusOf(deliver(world.client, token))).toBe(200)
    expect(await world.userOf(browser)).toBeNull()
    expect(world.events).toContainEqual(
      expect.objectContaining({ level: 'error', code: 'SESSION_STORE_FAILED', operation: 'once' }),
    )
  })

  test('the process that received a notification may end: another one processes it', async () => {
    const name = randomUUID()
    const reached = signal()
    const dying: SessionDataStore = {
      ...toldStore(name),
      deleteByLogoutToken() {
        reached.give()
        return new Promise(() => {})
      },
    }
    const token = await world.provider.logoutToken({ sub: SUB })
    void deliver(another({ sessionStore: dying }), token)
    await reached.given
    const alive = another({ sessionStore: toldStore(name) })
    expect(await statusOf(deliver(alive, token))).toBe(200)
  })
})

describe('stores and clients without support for back-channel logout', () => {
  const refused = [501, 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED']

  test('sessions in cookies: 501 for any token, which the provider sees', async () => {
    const cookies = await startLogoutWorld({ sessionStore: undefined })
    onTestFinished(() => cookies.stop())
    const browser = await cookies.signedIn()
    await cookies.provider.endSessions('alice')
    expect(cookies.provider.logoutNotices().map(({ status }) => status)).toEqual([501])
    expect(await cookies.userOf(browser)).toBe(SUB)
    const response = await post(cookies.client, 'no form at all')
    expect([response.status, response.code]).toEqual(refused)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(JSON.parse(response.text)).toEqual({ error: { code: refused[1], message: expect.any(String) } })
  })

  test('a store with three methods: 501, without reading the token or the store', async () => {
    const { get, set, delete: remove } = toldStore()
    const client = another({
      sessionStore: { get, set, delete: remove },
      [customFetch]: () => Promise.reject(new Error('asked')),
    })
    const request = new Request(APP + ROUTE, { method: 'POST', body: 'logout_token=x' })
    expect(await statusOf(readResponse(await client.middleware(request)))).toEqual(refused)
    expect(request.bodyUsed).toBe(false)
  })

  test('an incomplete configuration: 500', async () => {
    const client = new IdpClient({ secret: SECRET, sessionStore: toldStore(), logger: () => {} })
    expect(await statusOf(post(client, ''))).toEqual([500, 'INVALID_CONFIGURATION'])
  })
})
