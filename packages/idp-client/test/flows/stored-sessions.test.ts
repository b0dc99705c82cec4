import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, SessionData, SessionDataStore } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import type { StoredInternalData } from '../../src/session/model/session-data.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { incompressible } from '../support/incompressible.ts'

/** The three members that the contract requires, and nothing else. */
function minimalStore(): SessionDataStore & { readonly records: Map<string, string> } {
  const records = new Map<string, string>()
  return {
    records,
    get: async (id) => {
      const text = records.get(id)
      return text === undefined ? null : JSON.parse(text)
    },
    set: async (id, session) => {
      records.set(id, JSON.stringify(session))
    },
    delete: async (id) => {
      records.delete(id)
    },
  }
}

const stores = {
  'three members': minimalStore,
  'every member': () => memoryStore({ name: crypto.randomUUID() }),
} satisfies Record<string, () => SessionDataStore>

function pass(world: World, seconds: number): void {
  world.clock.now += seconds
}

describe.each(Object.entries(stores))('a store with %s', (_name, makeStore) => {
  let store: SessionDataStore
  let world: World

  beforeAll(async () => {
    store = makeStore()
    world = await startWorld({ sessionStore: store })
  })
  afterAll(() => world.provider.stop())

  let browser: Browser
  beforeEach(async () => {
    browser = world.newBrowser()
    await world.login(browser)
  })

  test('[S016, S017, S018, S020, S057] login, reading, rolling, update and logout', async () => {
    expect(browser.names('__session')).toEqual(['__session'])
    expect(await (await browser.send('/auth/profile')).json()).toMatchObject({ sub: 'dev|alice' })
    pass(world, 400)
    const rolled = await browser.send('/')
    expect(rolled.headers.getSetCookie().join()).toContain('__session=')
    const request = browser.request('/')
    const session = await world.client.getSession(request)
    await world.client.updateSession(request, new Headers(), { ...(session as SessionData), theme: 'dark' })
    expect(await world.client.getSession(browser.request('/'))).toMatchObject({ theme: 'dark' })
    const captured = new Map(browser.cookies)
    expect((await browser.send('/auth/logout')).status).toBe(302)
    expect(browser.names('__session')).toEqual([])
    for (const [name, cookie] of captured) browser.cookies.set(name, cookie)
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('a refresh is in the store immediately, also where no cookie can be written', async () => {
    pass(world, 3601)
    const request = browser.request('/')
    // Without a response nothing can be written, as in a Server Component.
    const { token } = await world.client.getAccessToken(request)
    world.provider.clearRequests()
    expect((await world.client.getAccessToken(browser.request('/'))).token).toBe(token)
    expect(world.provider.count('token')).toBe(0)
  })

  test('a refresh renews the cookie, too: a page may call only the access token route', async () => {
    pass(world, 3601)
    const response = await browser.send('/auth/access-token')
    expect(response.headers.getSetCookie().join()).toContain('__session=')
  })

  test('50 parallel calls on an expired session: one refresh', async () => {
    pass(world, 3601)
    world.provider.clearRequests()
    const calls = Array.from({ length: 50 }, () => world.client.getAccessToken(browser.request('/')))
    const tokens = await Promise.all(calls)
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1)
    expect(world.provider.count('token')).toBe(1)
  })

  test('proxy and page of one request read the refreshed session', async () => {
    pass(world, 3601)
    const request = browser.request('/')
    const headers = new Headers()
    const { token } = await world.client.getAccessToken(request, headers)
    expect((await world.client.getSession(request))?.tokenSet.accessToken).toBe(token)
  })

  test('a dead refresh token is removed once, session and user stay', async () => {
    world.provider.faults.set(
      'token',
      {
        kind: 'respond',
        status: 400,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ error: 'invalid_grant' }),
      },
      { times: 1 },
    )
    pass(world, 3601)
    const refused = world.client.getAccessToken(browser.request('/'))
    await expect(refused).rejects.toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN' })
    world.provider.clearRequests()
    const again = world.client.getAccessToken(browser.request('/'))
    await expect(again).rejects.toMatchObject({ code: 'MISSING_REFRESH_TOKEN' })
    expect(world.provider.count('token')).toBe(0)
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test('tokens of connections are stored in the record', async () => {
    const options = { connection: 'google-oauth2' }
    const first = await world.client.getAccessTokenForConnection(browser.request('/'), new Headers(), options)
    world.provider.clearRequests()
    const second = await world.client.getAccessTokenForConnection(
      browser.request('/'),
      new Headers(),
      options,
    )
    expect(second.token).toBe(first.token)
    expect(world.provider.count('token')).toBe(0)
    expect(browser.names('__session')).toEqual(['__session'])
  })

  test('logout revokes the refresh token', async () => {
    world.provider.clearRequests()
    await browser.send('/auth/logout')
    const [revocation] = world.provider.requests('revocation')
    expect(revocation?.body).toMatchObject({ token_type_hint: 'refresh_token' })
    expect(revocation?.status).toBe(200)
  })
})

describe('administration', () => {
  let world: World
  let client: IdpClient

  beforeAll(async () => {
    world = await startWorld({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })
    client = world.client
  })
  afterAll(() => world.provider.stop())

  const signedIn = async (user: string): Promise<Browser> => {
    const browser = world.newBrowser()
    await world.login(browser, '', { user })
    return browser
  }
  const isIn = async (browser: Browser): Promise<boolean> =>
    (await browser.send('/auth/profile')).status === 200

  test('lists the sessions of a user on all devices, and ends one or all of them', async () => {
    const [phone, desktop, bob] = [await signedIn('alice'), await signedIn('alice'), await signedIn('bob')]
    const alice = await client.getSession(phone.request('/'))
    const sub = alice?.user.sub ?? ''
    const id = await client.sessions.currentId(phone.request('/'))
    const listed = await client.sessions.listBySubject(sub)
    expect(listed).toHaveLength(2)
    expect(listed.map(({ id }) => id)).toContain(id)
    expect(listed[0]).toMatchObject({ createdAt: world.clock.now, data: { user: { sub } } })
    expect(JSON.stringify(listed)).not.toContain(alice?.tokenSet.refreshToken ?? 'none')
    await client.sessions.revoke(id ?? '')
    expect([await isIn(phone), await isIn(desktop), await isIn(bob)]).toEqual([false, true, true])
    const again = await signedIn('alice')
    expect(await client.sessions.revokeBySubject(sub)).toBe(2)
    expect([await isIn(desktop), await isIn(again), await isIn(bob)]).toEqual([false, false, true])
    expect(await client.sessions.listBySubject(sub)).toEqual([])
    expect(await client.sessions.currentId(desktop.request('/'))).toBeNull()
  })

  test('sessions of another application in the same store are neither listed nor ended', async () => {
    const mine = await signedIn('alice')
    const store = memoryStore({ name: crypto.randomUUID() })
    const shared = world.another({ sessionStore: store })
    const other = world.another({ sessionStore: store, clientId: world.provider.keyClient.clientId })
    await world.login(shared.browser)
    const sub = (await client.getSession(mine.request('/')))?.user.sub ?? ''
    expect(await other.client.sessions.listBySubject(sub)).toEqual([])
    expect(await other.client.sessions.revokeBySubject(sub)).toBe(0)
    expect(await isIn(shared.browser)).toBe(true)
    expect(await shared.client.sessions.listBySubject(sub)).toHaveLength(1)
  })

  test('a session whose record has no client tag is listed and ended', async () => {
    const store = memoryStore({ name: crypto.randomUUID() })
    const shared = world.another({ sessionStore: store })
    await world.login(shared.browser)
    const [{ id, session } = expect.fail('there is a record')] = await store.listBySubject('dev|alice')
    const { client: _tag, ...internal }: StoredInternalData = session.internal
    await store.set(id, { ...session, internal }, { expiresAt: world.clock.now + 3600 })
    expect(await isIn(shared.browser)).toBe(true)
    expect(await shared.client.sessions.listBySubject('dev|alice')).toHaveLength(1)
    expect(await shared.client.sessions.revokeBySubject('dev|alice')).toBe(1)
    expect(await isIn(shared.browser)).toBe(false)
  })

  test('sessions of another user are neither listed nor ended if the store ignores case', async () => {
    const store = memoryStore({ name: crypto.randomUUID() })
    const sessionStore: SessionDataStore = Object.assign(Object.create(store), {
      listBySubject: async (sub: string) => (await store.listBySubject?.(sub.toLowerCase())) ?? [],
    })
    const shared = world.another({ sessionStore })
    await world.login(shared.browser)
    const sub = 'dev|alice'
    expect(await shared.client.sessions.listBySubject(sub)).toHaveLength(1)
    expect(await shared.client.sessions.listBySubject(sub.toUpperCase())).toEqual([])
    expect(await shared.client.sessions.revokeBySubject(sub.toUpperCase())).toBe(0)
    expect(await isIn(shared.browser)).toBe(true)
  })

  test('a session that has ended by inactivity is not listed, although the store still has it', async () => {
    const store = memoryStore({ name: crypto.randomUUID() })
    const session = { inactivityDuration: 3600 }
    const shared = world.another({ sessionStore: store, session })
    await world.login(shared.browser)
    pass(world, 3600)
    expect(await store.listBySubject?.('dev|alice')).toHaveLength(1)
    expect(await shared.client.sessions.listBySubject('dev|alice')).toEqual([])
  })

  test.each<[string, IdpClientOptions]>([
    ['no store', {}],
    ['a store that cannot list', { sessionStore: minimalStore() }],
  ])('with %s: a typed error', async (_name, options) => {
    const plain = new IdpClient({
      domain: 'idp.example.com',
      clientId: 'client',
      clientSecret: 'client-secret',
      secret: '0123456789abcdef0123456789abcdef',
      logger: () => {},
      ...options,
    })
    const error = { code: 'SESSION_STORE_UNSUPPORTED' }
    await expect(plain.sessions.listBySubject('alice')).rejects.toMatchObject(error)
    await expect(plain.sessions.revokeBySubject('alice')).rejects.toMatchObject(error)
    const request = new Request('https://app.example.com/')
    const current = await plain.sessions.currentId(request).catch((thrown: unknown) => thrown)
    expect(current).toEqual(options.sessionStore ? null : expect.objectContaining(error))
    await expect(client.sessions.listBySubject('')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})

describe('a session that does not fit into cookies', () => {
  test('is an error with the bytes per field in cookies, and works in a store', async () => {
    const groups = incompressible(12_000).match(/.{30}/g)
    const beforeSessionSaved = (session: SessionData): SessionData => ({
      ...session,
      user: { ...session.user, groups },
    })
    let fields: unknown
    const world = await startWorld({
      beforeSessionSaved,
      logger: () => {},
      onCallback: () => undefined,
    })
    try {
      const inCookies = await world.login(world.browser)
      expect(inCookies.status).toBe(500)
      expect(world.browser.names('__session')).toEqual([])
      const stored = world.another({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })
      expect((await world.login(stored.browser)).status).toBe(302)
      const session = await stored.client.getSession(stored.browser.request('/'))
      expect(session?.user['groups']).toEqual(groups)
      const small = world.another({ beforeSessionSaved: (given) => given })
      await world.login(small.browser)
      const request = small.browser.request('/')
      const update = { ...(await small.client.getSession(request)), groups } as unknown as SessionData
      await small.client.updateSession(request, new Headers(), update).catch((error) => {
        fields = error.fields
      })
      expect(fields).toMatchObject({ groups: expect.any(Number) })
      expect(Object.keys(fields as object)[0]).toBe('groups')
    } finally {
      await world.provider.stop()
    }
  })
})
