import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { nextjsAuth0 } from '../../src/take-over/index.ts'
import type { FormerSession, TakeOver } from '../../src/take-over/take-over.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import {
  createFormerLibrary,
  createFormerSession,
  createStore,
  putFormer as put,
} from '../support/former-library.ts'
import { Process } from '../support/processes.ts'

const DAY = 86_400

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: 300 })
})
afterAll(() => world.provider.stop())

/** A date some days after now, as the source code would have it. */
const dateIn = (days: number): string =>
  new Date((world.clock.now + days * DAY) * 1000).toISOString().slice(0, 10)

const formerLibrary = (changes?: Partial<TakeOver>): TakeOver => createFormerLibrary(world, changes)
const formerSession = (changes?: Partial<FormerSession>) => createFormerSession(world, changes)
const newStore = () => createStore(world)

function reasons(): string[] {
  return world.events.flatMap((event) => (event.code === 'SESSION_NOT_TAKEN_OVER' ? [event.reason] : []))
}

const taken = (): number => world.events.filter(({ code }) => code === 'SESSION_TAKEN_OVER').length

/** Makes the next event of a refusal appear, which are at most one per minute. */
function forgetEvents(): void {
  world.events.length = 0
  world.clock.now += 120
}

type Storage = readonly [name: string, options: () => IdpClientOptions]

const storages: readonly Storage[] = [
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: newStore() })],
]

describe.each(storages)('a session of a former library, %s', (_name, options) => {
  test('stays signed in, with the times of its login, and the cookie is replaced', async () => {
    forgetEvents()
    const former = await formerSession()
    world.clock.now += 100
    const takeOver = formerLibrary({ cookies: ['former', 'older'] })
    const { browser } = world.another({ ...options(), takeOver })
    put(browser, former)
    expect((await browser.session()).user.sub).toBe('dev|alice')
    const response = await browser.send('/page')
    expect(browser.names('former')).toEqual([])
    expect(response.headers.getSetCookie().join()).toContain('__session=')
    const session = await browser.session()
    expect(session.user).toEqual(former.user)
    expect(session.internal).toMatchObject({ createdAt: former.createdAt, sid: former.sid })
    expect(session.tokenSet).toMatchObject({
      idToken: former.idToken,
      accessToken: former.tokens?.accessToken,
    })
    expect(taken()).toBe(1)
    expect(reasons()).toEqual([])
  })

  test('refreshes with its former refresh token, once for parallel requests', async () => {
    const former = await formerSession()
    world.clock.now += 400
    const { browser } = world.another({ ...options(), takeOver: formerLibrary() })
    put(browser, former)
    const before = world.refreshes().length
    const responses = await Promise.all(Array.from({ length: 5 }, () => browser.send('/auth/access-token')))
    const bodies = await Promise.all(responses.map((response) => response.json()))
    expect(new Set(bodies.map(({ token }) => token)).size).toBe(1)
    expect(world.refreshes().length).toBe(before + 1)
    expect(browser.names('former')).toEqual([])
    expect((await browser.session()).tokenSet.refreshToken).not.toBe(former.tokens?.refreshToken)
  })

  test('is converted once for 50 parallel first requests', async () => {
    forgetEvents()
    const former = await formerSession()
    let calls = 0
    const { browser } = world.another({
      ...options(),
      takeOver: formerLibrary(),
      beforeSessionSaved: (session) => {
        calls += 1
        return { ...session, marked: true }
      },
    })
    put(browser, former)
    const responses = await Promise.all(Array.from({ length: 50 }, () => browser.send('/auth/profile')))
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(calls).toBe(1)
    expect(taken()).toBe(1)
    expect(await browser.session()).toMatchObject({ marked: true })
  })

  test('logs out for good: its cookie, put back, is not a session', async () => {
    forgetEvents()
    const former = await formerSession()
    const { browser } = world.another({ ...options(), takeOver: formerLibrary() })
    put(browser, former)
    await browser.send('/page')
    world.clock.now += 1
    await browser.send('/auth/logout')
    put(browser, former)
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect(reasons()).toContain('ended')
  })

  test('logs out for good before it was converted', async () => {
    const former = await formerSession()
    world.clock.now += 1
    const { browser } = world.another({ ...options(), takeOver: formerLibrary() })
    put(browser, former)
    await browser.send('/auth/logout')
    expect(browser.names('former')).toEqual([])
    put(browser, former)
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('a new login replaces it, and its cookie is deleted', async () => {
    const former = await formerSession()
    world.clock.now += 1
    const { browser } = world.another({ ...options(), takeOver: formerLibrary() })
    put(browser, former)
    await world.login(browser, '', { user: 'bob' })
    expect(browser.names('former')).toEqual([])
    expect((await browser.session()).user.sub).toBe('dev|bob')
    for (const cookie of browser.names('__session'))
      if (cookie !== '__session__ended') browser.cookies.delete(cookie)
    put(browser, former)
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('beside a session of ours it is not read', async () => {
    const reads = { count: 0 }
    const takeOver = formerLibrary({
      read: () => {
        reads.count += 1
        return null
      },
    })
    const { browser } = world.another({ ...options(), takeOver })
    await world.login(browser)
    reads.count = 0
    put(browser, await formerSession({ user: { sub: 'dev|bob' } }))
    expect((await browser.session()).user.sub).toBe('dev|alice')
    expect(reads.count).toBe(0)
  })
})

test('sessions of several users are converted at the same time, each with its own tokens', async () => {
  const takeOver = formerLibrary()
  const { client } = world.another({ takeOver })
  const users = ['alice', 'bob']
  const formers = await Promise.all(
    users.map(async (user) => {
      const { browser } = world.another()
      await world.login(browser, '', { user })
      const { tokenSet, internal } = await browser.session()
      const { accessToken, expiresAt, refreshToken } = tokenSet
      const tokens = { accessToken, expiresAt, refreshToken }
      return {
        user: { sub: `dev|${user}` },
        createdAt: internal.createdAt,
        idToken: tokenSet.idToken,
        tokens,
      }
    }),
  )
  const sessions = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const former = formers[index % formers.length]
      const { browser } = world.another()
      put(browser, former)
      return [former, await client.getSession(browser.request('/'))] as const
    }),
  )
  for (const [former, session] of sessions) {
    expect(session?.user.sub).toBe(former?.user.sub)
    expect(session?.tokenSet).toMatchObject({
      accessToken: former?.tokens.accessToken,
      idToken: former?.idToken,
    })
  }
})

test('in cookies, a logout that is sent at the same time as another request of the same browser wins', async () => {
  const former = await formerSession()
  world.clock.now += 5
  const { browser, client } = world.another({ takeOver: formerLibrary() })
  put(browser, former)
  const late = await client.middleware(browser.request('/auth/profile'))
  expect(late.status).toBe(200)
  await browser.send('/auth/logout')
  browser.store(late)
  expect((await browser.send('/auth/profile')).status).toBe(401)
})

describe('in a store, what was ended stays ended', () => {
  async function inStore(former: FormerSession, takeOver = formerLibrary()) {
    const sessionStore = newStore()
    const { browser, client } = world.another({ sessionStore, takeOver })
    put(browser, former)
    return { browser, client, sessionStore, takeOver }
  }

  test('a copy of the cookie after a logout, in another process and days later', async () => {
    const former = await formerSession()
    const { browser, client } = await inStore(former, formerLibrary())
    const thief = world.newBrowser()
    put(thief, former)
    await browser.send('/auth/logout')
    await new Process().run(async () => {
      expect((await client.middleware(thief.request('/auth/profile'))).status).toBe(401)
      world.clock.now += DAY - 10
      expect((await client.middleware(thief.request('/auth/profile'))).status).toBe(401)
    })
  })

  test('a second cookie of the same session of the provider', async () => {
    const former = await formerSession()
    world.clock.now += 5
    const { browser, client } = await inStore(former)
    await browser.send('/auth/logout')
    const thief = world.newBrowser()
    put(thief, { ...former, id: 'another roll' })
    expect((await client.middleware(thief.request('/auth/profile'))).status).toBe(401)
  })

  test.each(['sid', 'sub'] as const)('a back-channel logout by %s before it was converted', async (by) => {
    const former = await formerSession()
    world.clock.now += 5
    const { browser, client } = await inStore(former)
    const subject = by === 'sid' ? { sid: former.sid ?? '' } : { sub: 'dev|alice' }
    const body = new URLSearchParams({ logout_token: await world.provider.logoutToken(subject) })
    const request = new Request('http://localhost:3000/auth/backchannel-logout', { method: 'POST', body })
    expect((await client.middleware(request)).status).toBe(200)
    world.clock.now += 3600
    expect((await browser.send('/auth/profile')).status).toBe(401)
    put(browser, await formerSession())
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test.each([
    ['lists them', (store: ReturnType<typeof newStore>): SessionDataStore => store],
    [
      'deletes them',
      ({ listBySubject: _list, ...store }: ReturnType<typeof newStore>): SessionDataStore => store,
    ],
  ])('every session of the user was revoked, by a store that %s', async (_name, toStore) => {
    const former = await formerSession()
    world.clock.now += 5
    const { browser, client } = world.another({
      sessionStore: toStore(newStore()),
      takeOver: formerLibrary(),
    })
    put(browser, former)
    await client.sessions.revokeBySubject('dev|alice')
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('its record was revoked', async () => {
    const former = await formerSession()
    const { browser, client } = await inStore(former)
    const id = await client.sessions.currentId(browser.request('/'))
    await client.sessions.revoke(id ?? '')
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('its record expired', async () => {
    const former = await formerSession()
    const { browser } = await inStore(former)
    await browser.send('/auth/profile')
    put(browser, former)
    for (const cookie of browser.names('__session')) browser.cookies.delete(cookie)
    world.clock.now += DAY + 1
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('two processes take one session over once', async () => {
    forgetEvents()
    const former = await formerSession()
    const { browser, client } = await inStore(former)
    const [one, other] = [new Process(), new Process()]
    const open = async () => (await client.getSession(browser.request('/')))?.user.sub
    expect(await one.run(open)).toBe('dev|alice')
    expect(await other.run(open)).toBe('dev|alice')
    expect(taken()).toBe(1)
  })
})

describe('what is not a session of the former library', () => {
  const cases: readonly (readonly [string, (former: FormerSession) => unknown, string])[] = [
    ['nothing', () => null, 'unreadable'],
    ['a text', () => 'session', 'reader'],
    ['a list', () => [], 'reader'],
    ['no user', ({ user: _user, ...former }) => former, 'reader'],
    ['an empty sub', (former) => ({ ...former, user: { sub: '' } }), 'reader'],
    ['a sub that is a number', (former) => ({ ...former, user: { sub: 1 } }), 'reader'],
    ['no time of the login', ({ createdAt: _time, ...former }) => former, 'reader'],
    ['a time that is a text', (former) => ({ ...former, createdAt: String(former.createdAt) }), 'reader'],
    ['a login in the future', (former) => ({ ...former, createdAt: world.clock.now + 61 }), 'reader'],
    ['a use in the future', (former) => ({ ...former, usedAt: world.clock.now + 61 }), 'reader'],
    ['a negative time', (former) => ({ ...former, createdAt: -1 }), 'reader'],
    ['tokens that are a text', (former) => ({ ...former, tokens: 'token' }), 'reader'],
    ['a token that is an object', (former) => ({ ...former, tokens: { accessToken: {} } }), 'reader'],
    ['an expiry that is null', (former) => ({ ...former, expiresAt: null }), 'reader'],
    ['one that has expired there', (former) => ({ ...former, expiresAt: world.clock.now }), 'expired'],
    [
      'one that was not used for too long',
      (former) => ({ ...former, createdAt: world.clock.now - DAY }),
      'expired',
    ],
    [
      'one that is too old',
      (former) => ({ ...former, createdAt: world.clock.now - 3 * DAY, usedAt: world.clock.now }),
      'expired',
    ],
    [
      'one that the provider has ended',
      (former) => ({ ...former, sessionExpiresAt: world.clock.now }),
      'expired',
    ],
    [
      'one of another issuer',
      (former) => ({ ...former, issuer: 'https://other.example.com' }),
      'other-client',
    ],
    ['one of another client', (former) => ({ ...former, clientId: 'other' }), 'other-client'],
    [
      'an ID token of another client',
      (former) => ({ ...former, idToken: withClaims(former.idToken, { aud: 'other' }) }),
      'other-client',
    ],
    [
      'an ID token of another issuer',
      (former) => ({ ...former, idToken: withClaims(former.idToken, { iss: 'https://other.example.com' }) }),
      'other-client',
    ],
    ['an ID token of another user', (former) => ({ ...former, user: { sub: 'id in a database' } }), 'reader'],
  ]

  function withClaims(idToken = '', changes: object): string {
    const [header, payload = '', signature] = idToken.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return [
      header,
      Buffer.from(JSON.stringify({ ...claims, ...changes })).toString('base64url'),
      signature,
    ].join('.')
  }

  test.each(cases)('%s', async (_name, change, reason) => {
    forgetEvents()
    const { browser } = world.another({ takeOver: formerLibrary() })
    put(browser, change(await formerSession()))
    for (const path of ['/auth/profile', '/auth/profile']) expect((await browser.send(path)).status).toBe(401)
    expect((await browser.send('/page')).status).toBe(200)
    expect(browser.names('former')).toEqual(['former'])
    expect(reasons()).toEqual([reason])
    expect(taken()).toBe(0)
  })

  test('a reader that throws, rejects, or never ends', async () => {
    const former = await formerSession()
    const readers: readonly TakeOver['read'][] = [
      () => {
        throw new Error('no')
      },
      () => Promise.reject(new Error('no')),
      () => new Promise(() => {}),
    ]
    for (const read of readers) {
      forgetEvents()
      const { browser } = world.another({ takeOver: formerLibrary({ read }), httpTimeout: 50 })
      put(browser, former)
      expect((await browser.send('/auth/profile')).status).toBe(401)
      expect(reasons()).toEqual(['reader'])
    }
  })

  test('a reader whose secret is not set: the log says what to set', async () => {
    forgetEvents()
    const { read } = nextjsAuth0({ secret: undefined, until: dateIn(30) })
    const { browser } = world.another({ takeOver: formerLibrary({ read, cookies: '__session_former' }) })
    put(browser, 'e30', '__session')
    put(browser, 'e30', '__session_former')
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect(reasons()).toEqual(['reader'])
    expect(JSON.stringify(world.events)).toContain('The secret of takeOver (nextjs-auth0) is undefined')
  })

  test('a hook that throws', async () => {
    forgetEvents()
    const { browser } = world.another({
      takeOver: formerLibrary(),
      beforeSessionSaved: () => {
        throw new Error('no')
      },
    })
    put(browser, await formerSession())
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect(reasons()).toEqual(['hook'])
  })

  test('after the date until', async () => {
    const { browser } = world.another({ takeOver: formerLibrary({ until: dateIn(1) }) })
    put(browser, await formerSession())
    world.clock.now += DAY
    put(browser, await formerSession())
    expect((await browser.send('/auth/profile')).status).toBe(401)
  })

  test('one of another organization', async () => {
    forgetEvents()
    const authorizationParameters = { organization: 'org_other' }
    const { browser } = world.another({ takeOver: formerLibrary(), authorizationParameters })
    put(browser, await formerSession())
    expect((await browser.send('/auth/profile')).status).toBe(401)
    const { idToken: _token, ...former } = await formerSession()
    for (const [organization, status] of [
      ['org_third', 401],
      ['org_other', 200],
    ] as const) {
      put(browser, { ...former, user: { ...former.user, org_id: organization } })
      expect((await browser.send('/auth/profile')).status).toBe(status)
    }
    expect(reasons()).toEqual(['organization'])
  })
})

test('a store that cannot keep an ended session ended is a configuration error', () => {
  const { lock: _lock, ...withoutLock } = memoryStore()
  const stores: readonly SessionDataStore[] = [
    withoutLock,
    { ...memoryStore(), rememberEnd: undefined } as never,
  ]
  for (const sessionStore of stores)
    expect(() => world.another({ sessionStore, takeOver: formerLibrary() })).toThrow(
      'requires a sessionStore',
    )
})
