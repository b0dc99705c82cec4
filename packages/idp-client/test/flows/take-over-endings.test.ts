import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import type { IdpClientOptions, SessionData, SessionDataStore } from '../../src/index.ts'
import { decodeClaims } from '../../src/session/model/claims.ts'
import type { FormerSession, TakeOver } from '../../src/take-over/take-over.ts'
import type { Browser } from '../support/app.ts'
import {
  createFormerLibrary,
  createFormerSession,
  createStore,
  putFormer as put,
} from '../support/former-library.ts'
import { Process } from '../support/processes.ts'
import type { ProxiedWorld } from '../support/proxied.ts'
import { fromPage, startProxiedWorld } from '../support/proxied.ts'

let world: ProxiedWorld
beforeAll(async () => {
  world = await startProxiedWorld({ provider: { accessTokenTtl: 300 } })
})
afterAll(() => world.stop())

const formerLibrary = (changes?: Partial<TakeOver>): TakeOver => createFormerLibrary(world, changes)
const newStore = () => createStore(world)

/** A session as the former library left it a while ago. */
async function formerSession(): Promise<FormerSession> {
  const former = await createFormerSession(world)
  world.clock.now += 2
  return former
}

function withFormer(former: FormerSession): Browser {
  const browser = world.newBrowser()
  put(browser, former)
  return browser
}

/** A promise and the function that resolves it. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

const storages: readonly (readonly [string, () => IdpClientOptions])[] = [
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: newStore() })],
]

describe('in a store', () => {
  test('a login ends a former session that another request is converting', async () => {
    const former = await formerSession()
    const [writing, ended] = [gate(), gate()]
    const sessionStore: SessionDataStore = newStore()
    const { browser, client } = world.another({ sessionStore, takeOver: formerLibrary() })
    const callback = await world.authorize(await world.begin(browser), { user: 'bob' })
    const { set } = sessionStore
    sessionStore.set = async (id, session, expiry) => {
      if (session.user.sub === 'dev|alice') {
        writing.open()
        await ended.opened
      }
      return set(id, session, expiry)
    }
    const converted = client.getSession(withFormer(former).request('/'))
    await writing.opened
    put(browser, former)
    await browser.send(callback)
    ended.open()
    expect(await converted).toBeNull()
    expect(await client.getSession(withFormer(former).request('/'))).toBeNull()
  })

  test('a former session that a login has ended is not stored again, not even for a moment', async () => {
    const former = await formerSession()
    const sessionStore: SessionDataStore = newStore()
    const { browser, client } = world.another({ sessionStore, takeOver: formerLibrary() })
    const callback = await world.authorize(await world.begin(browser), { user: 'bob' })
    put(browser, former)
    await browser.send(callback)
    const stored: string[] = []
    sessionStore.set = async (_id, session) => void stored.push(session.user.sub)
    expect(await client.getSession(withFormer(former).request('/'))).toBeNull()
    expect(stored).toEqual([])
  })

  test('an update by the request that took a session over does not restore it after its logout', async () => {
    const former = await formerSession()
    const { browser, client } = world.another({ sessionStore: newStore(), takeOver: formerLibrary() })
    put(browser, former)
    const request = browser.request('/')
    const session = await client.getSession(request)
    await browser.send('/auth/logout')
    await expect(
      client.updateSession(request, new Response(), { ...session, note: 'mine' } as never),
    ).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  })

  test('the lock of a conversion is released, also if the store first rejects that', async () => {
    const former = await formerSession()
    const store = newStore()
    const locked: string[] = []
    let rejections = 0
    const sessionStore: SessionDataStore = {
      ...store,
      async lock(id, milliseconds) {
        locked.push(id)
        const lock = await store.lock(id, milliseconds)
        if (!lock) return null
        return {
          async release() {
            rejections += 1
            if (rejections === 1) throw new Error('the connection was idle for too long')
            await lock.release()
          },
        }
      },
    }
    const { client } = world.another({ sessionStore, takeOver: formerLibrary() })
    expect(await client.getSession(withFormer(former).request('/'))).not.toBeNull()
    expect([locked.length, rejections]).toEqual([1, 2])
    expect(await store.lock(String(locked), 1000)).not.toBeNull()
  })

  test('a login ends the responses of the former session', async () => {
    const former = await formerSession()
    const { browser, client } = world.another({ sessionStore: newStore(), takeOver: formerLibrary() })
    client.proxy({ prefix: '/api/orders', target: world.upstream.url })
    const callback = await world.authorize(await world.begin(browser), { user: 'bob' })
    put(browser, former)
    world.upstream.respond({ kind: 'events' })
    const response = await client.middleware(fromPage(browser, '/api/orders/events'))
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await browser.send(callback)
    expect((await reader?.read())?.done).toBe(true)
  })

  test('a conversion that outlasts the lock finds the session of another process', async () => {
    const former = await formerSession()
    const [converting, converted] = [gate(), gate()]
    let calls = 0
    const { client } = world.another({
      sessionStore: newStore(),
      sessionLockTimeout: 20,
      takeOver: formerLibrary(),
      async beforeSessionSaved(session) {
        calls += 1
        if (calls > 1) return session
        converting.open()
        await converted.opened
        return session
      },
    })
    const slow = client.getSession(withFormer(former).request('/'))
    await converting.opened
    const fast = await new Process().run(() => client.getSession(withFormer(former).request('/')))
    converted.open()
    expect([fast?.user.sub, (await slow)?.user.sub]).toEqual(['dev|alice', 'dev|alice'])
  })

  test('a session whose end cannot be looked up after its conversion is not kept', async () => {
    const former = await formerSession()
    const sessionStore: SessionDataStore = newStore()
    const { endedAt, set } = sessionStore
    let isDown = false
    sessionStore.set = async (id, session, expiry) => {
      await set(id, session, expiry)
      isDown = true
    }
    sessionStore.endedAt = async (session) => {
      if (!isDown) return endedAt?.(session) ?? null
      isDown = false
      throw new Error('down')
    }
    const { client } = world.another({ sessionStore, takeOver: formerLibrary() })
    await expect(client.getSession(withFormer(former).request('/'))).rejects.toMatchObject({
      code: 'SESSION_STORE_FAILED',
    })
    expect(await client.getSession(withFormer(former).request('/'))).toBeNull()
  })

  test('a session that has ended is not taken over after its date until was extended', async () => {
    const former = { ...(await formerSession()), expiresAt: world.clock.now + 30 * 86_400 }
    const { sid: _sid, ...withoutSid } = { ...former, id: 'without the sid of the provider' }
    const sessionStore = newStore()
    const day = (days: number) =>
      new Date((world.clock.now + days * 86_400) * 1000).toISOString().slice(0, 10)
    const takeOver = formerLibrary({ until: day(1) })
    for (const session of [former, withoutSid]) {
      const { browser } = world.another({ sessionStore, takeOver })
      put(browser, session)
      await browser.send('/auth/logout')
    }
    world.clock.now += 86_400
    const { client } = world.another({ sessionStore, takeOver: formerLibrary({ until: day(30) }) })
    for (const session of [former, withoutSid, { ...former, id: 'another roll' }])
      expect(await client.getSession(withFormer(session).request('/'))).toBeNull()
  })

  test('its cookie is set by the response that also refreshed its tokens', async () => {
    const former = await formerSession()
    const { browser } = world.another({
      sessionStore: newStore(),
      takeOver: formerLibrary(),
      enableAccessTokenEndpoint: true,
    })
    put(browser, former)
    world.clock.now += 400
    expect((await browser.send('/auth/access-token')).status).toBe(200)
    expect([...browser.names('__session'), ...browser.names('former')]).toEqual(['__session'])
  })

  test('many requests at once with the cookie of an ended session ask for its lock once', async () => {
    const former = await formerSession()
    const store = newStore()
    let locks = 0
    const sessionStore: SessionDataStore = {
      ...store,
      async lock(id, milliseconds) {
        locks += 1
        return (await store.lock?.(id, milliseconds)) ?? null
      },
    }
    const { browser, client } = world.another({ sessionStore, takeOver: formerLibrary() })
    put(browser, former)
    await browser.send('/auth/logout')
    locks = 0
    const copy = withFormer(former)
    const sessions = Array.from({ length: 50 }, () => client.getSession(copy.request('/')))
    expect(new Set(await Promise.all(sessions))).toEqual(new Set([null]))
    expect(locks).toBe(1)
  })

  test('a session that ends while parallel requests convert it does not exist for those that come later', async () => {
    const former = await formerSession()
    const store = newStore()
    const [created, released] = [gate(), gate()]
    let isEnded = false
    const sessionStore: SessionDataStore = {
      ...store,
      async get(id) {
        const record = await store.get(id)
        // Then the later request waits for the first one.
        if (isEnded) setImmediate(released.open)
        return record
      },
      async lock(id, milliseconds) {
        const lock = await store.lock?.(id, milliseconds)
        if (!lock) return null
        return {
          async release() {
            created.open()
            await released.opened
            await lock.release()
          },
        }
      },
    }
    const { client } = world.another({ sessionStore, takeOver: formerLibrary() })
    const first = client.getSession(withFormer(former).request('/'))
    await created.opened
    await client.sessions.revokeBySubject(former.user.sub)
    isEnded = true
    const later = await client.getSession(withFormer(former).request('/'))
    await first
    expect(later).toBeNull()
  })

  test('the provider ends a former session by its sid, and for a while only after a thousand such requests in an hour', async () => {
    const former = await formerSession()
    const { client } = world.another({
      sessionStore: newStore(),
      takeOver: formerLibrary(),
      frontChannelLogout: true,
    })
    const end = async (sid: string | undefined, at = client): Promise<number> => {
      const query = new URLSearchParams({ iss: world.provider.issuer, sid: sid ?? '' })
      const url = `http://localhost:3000/auth/frontchannel-logout?${query}`
      const headers = {
        'sec-fetch-dest': 'iframe',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-site': 'cross-site',
      }
      return (await at.middleware(new Request(url, { headers }))).status
    }
    const user = async (session: FormerSession) => client.getSession(withFormer(session).request('/'))
    // At the beginning of an hour, so that all of them are in the same one.
    world.clock.now += 3600 - (world.clock.now % 3600)
    expect(await end(former.sid)).toBe(200)
    expect(await user(former)).toBeNull()
    // Those of another client do not count.
    const { client: other } = world.another({
      sessionStore: newStore(),
      takeOver: formerLibrary(),
      frontChannelLogout: true,
    })
    for (let count = 1; count < 1000; count++) {
      if (count % 10 === 0) world.clock.now += 1
      expect(await end(`unknown ${count}`, other)).toBe(200)
    }
    const early = await formerSession()
    expect(await end(early.sid)).toBe(200)
    for (let count = 2; count < 1000; count++) {
      if (count % 10 === 0) world.clock.now += 1
      expect(await end(`unknown ${count}`)).toBe(200)
    }
    const late = await formerSession()
    expect(await end(late.sid)).toBe(200)
    expect(await user(late)).toBeNull()
    world.clock.now += 601
    expect(await user(former)).toBeNull()
    expect(await user(early)).toBeNull()
    expect(await user(late)).not.toBeNull()
  })

  test('of two clients that take a session over at the same time, the later one gets the record of the other', async () => {
    const former = await formerSession()
    const sessionStore = newStore()
    world.events.length = 0
    const clients = [1, 2].map(() => world.another({ sessionStore, takeOver: formerLibrary() }).client)
    const sessions = await Promise.all(
      clients.map((client) => client.getSession(withFormer(former).request('/'))),
    )
    expect(sessions.map((session) => session?.user.sub)).toEqual([former.user.sub, former.user.sub])
    expect(world.events.filter(({ code }) => code === 'SESSION_TAKEN_OVER')).toHaveLength(1)
    expect(await clients[0]?.sessions.listBySubject(former.user.sub)).toHaveLength(1)
  })

  test('a logout is completed if the store cannot remember it, which is reported', async () => {
    const former = await formerSession()
    const rememberEnd = (): Promise<never> => Promise.reject(new Error('the store is down'))
    const { browser } = world.another({
      sessionStore: { ...newStore(), rememberEnd },
      takeOver: formerLibrary(),
    })
    put(browser, former)
    world.events.length = 0
    expect((await browser.send('/auth/logout')).status).toBe(302)
    expect(browser.names('former')).toEqual([])
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'SESSION_STORE_FAILED' }))
  })

  test('a logout ends all cookies of the former session beside a session of ours', async () => {
    const former = await formerSession()
    const { browser, client } = world.another({ sessionStore: newStore(), takeOver: formerLibrary() })
    await world.login(browser, '', { user: 'bob' })
    put(browser, { ...former, id: 'one roll' })
    await browser.send('/auth/logout')
    const other = withFormer({ ...former, id: 'another roll' })
    expect(await client.getSession(other.request('/'))).toBeNull()
  })

  test('a logout ends all cookies of a former session whose keys cannot be loaded', async () => {
    const former = await formerSession()
    let isDown = true
    const { browser, client } = world.another({
      sessionStore: newStore(),
      takeOver: formerLibrary(),
      [customFetch]: (input, init) => (isDown ? Promise.reject(new TypeError('down')) : fetch(input, init)),
    })
    put(browser, { ...former, id: 'one roll' })
    await browser.send('/auth/logout')
    isDown = false
    world.clock.now += 120
    const other = withFormer({ ...former, id: 'another roll' })
    expect(await client.getSession(other.request('/'))).toBeNull()
  })
})

test('in cookies, tokens are not compressed together with claims: a link may have chosen their scope', async () => {
  const former = await formerSession()
  const text = (seed: number) =>
    Array.from({ length: 100 }, (_, at) => ((at * seed) % 997).toString(36)).join('')
  const lengthWith = async (scope: string): Promise<number> => {
    const payload = Buffer.from(JSON.stringify({ scope })).toString('base64url')
    const tokens = { ...former.tokens, accessToken: `e30.${payload}.c2ln` }
    const { browser } = world.another({ takeOver: formerLibrary() })
    put(browser, { ...former, user: { ...former.user, note: text(7) }, tokens })
    await browser.send('/page')
    return browser.cookies.get('__session')?.value.length ?? 0
  }
  expect(Math.abs((await lengthWith(text(7))) - (await lengthWith(text(11))))).toBeLessThan(60)
})

describe.each(storages)('%s', (_name, options) => {
  test('a cookie that has the name of the former one and of ours is not reported', async () => {
    const takeOver = formerLibrary({ cookies: '__session', read: () => null })
    const { browser } = world.another({ ...options(), takeOver })
    await world.login(browser)
    world.events.length = 0
    world.clock.now += 400
    await browser.send('/page')
    await browser.send('/auth/logout')
    expect(world.events.filter(({ code }) => code === 'SESSION_NOT_TAKEN_OVER')).toEqual([])
    put(browser, 'of the former library', '__session')
    await browser.send('/page')
    expect(world.events.filter(({ code }) => code === 'NOTICE')).toEqual([])
  })

  test('a logout deletes former cookies with their path, and one that has the name of ours with our path', async () => {
    const takeOver = formerLibrary({ cookies: ['__session', 'former'], path: '/former', read: () => null })
    const { browser } = world.another({ ...options(), takeOver })
    await world.login(browser)
    put(browser, 'of another application')
    const lines = (await browser.send('/auth/logout')).headers.getSetCookie()
    const pathOf = (name: string) =>
      lines.filter((line) => line.startsWith(`${name}=;`)).map((line) => /Path=([^;]*)/.exec(line)?.[1])
    expect([pathOf('__session'), pathOf('former')]).toEqual([['/'], ['/former']])
  })

  test('a cookie that was not taken over stays until a login or logout', async () => {
    const { browser } = world.another({ ...options(), takeOver: formerLibrary({ read: () => null }) })
    await world.login(browser)
    put(browser, 'of another application')
    world.clock.now += 400
    const response = await browser.send('/page')
    expect(response.headers.getSetCookie().join()).toContain('__session=')
    expect(browser.names('former')).toEqual(['former'])
    await browser.send('/auth/logout')
    expect(browser.names('former')).toEqual([])
  })

  test('a guard sends a user to the login who has just logged in with the former library', async () => {
    const former = await formerSession()
    const authorizationParameters = { acr_values: 'high' }
    const { browser, client } = world.another({
      ...options(),
      takeOver: formerLibrary(),
      authorizationParameters,
    })
    put(browser, former)
    const page = client.withPageAuthRequired(() => new Response('in'), { acr: 'high' })
    const response = await page(browser.request('/admin'))
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('/auth/login?'),
    ])
  })

  test('a hook that never settles keeps no request waiting', async () => {
    const former = await formerSession()
    const { browser } = world.another({
      ...options(),
      httpTimeout: 50,
      takeOver: formerLibrary(),
      beforeSessionSaved: () => new Promise<SessionData>(() => undefined),
    })
    put(browser, former)
    world.events.length = 0
    expect((await browser.send('/page')).status).toBe(200)
    expect(world.events).toContainEqual(expect.objectContaining({ reason: 'hook' }))
  })

  test('a former cookie that arrives after the conversion is deleted with the next write', async () => {
    const former = await formerSession()
    const { browser } = world.another({ ...options(), takeOver: formerLibrary() })
    put(browser, former)
    await browser.send('/page')
    put(browser, former)
    world.clock.now += 400
    await browser.send('/page')
    expect(browser.names('former')).toEqual([])
  })

  test('claims that only the former library had outlast a refresh, also for the hook', async () => {
    for (const beforeSessionSaved of [undefined, (session: SessionData) => session]) {
      const { browser } = world.another({
        ...options(),
        takeOver: formerLibrary(),
        beforeSessionSaved,
        enableAccessTokenEndpoint: true,
      })
      const former = await formerSession()
      put(browser, { ...former, user: { ...former.user, department: 'sales' } })
      await browser.send('/page')
      world.clock.now += 400
      expect((await browser.send('/auth/access-token')).status).toBe(200)
      const { tokenSet, user } = await browser.session()
      expect(tokenSet.refreshToken).not.toBe(former.tokens?.refreshToken)
      expect(user).toMatchObject({ name: 'Alice Anderson', department: 'sales' })
    }
  })

  test('claims of an ID token that cannot be verified do not outlast a refresh without them', async () => {
    const { browser } = world.another({
      ...options(),
      takeOver: formerLibrary(),
      enableAccessTokenEndpoint: true,
    })
    const former = await formerSession()
    const claims = decodeClaims(former.idToken)
    const payload = Buffer.from(JSON.stringify({ ...claims, role: 'admin' })).toString('base64url')
    const { clientId, issuer } = world.provider
    const idToken = [former.idToken?.split('.')[0], payload, 'AAAA'].join('.')
    put(browser, { ...former, user: { ...former.user, role: 'admin' }, idToken, issuer, clientId })
    expect((await browser.session()).user['role']).toBe('admin')
    world.clock.now += 400
    expect((await browser.send('/auth/access-token')).status).toBe(200)
    const { user } = await browser.session()
    expect([user.name, user['role']]).toEqual(['Alice Anderson', undefined])
  })
})

test('the claim of session.expiryClaim ends a session that is taken over, which is not a session afterwards', async () => {
  const ends = world.clock.now + 1000
  const restore = world.provider.tamperIdToken((claims) => void Object.assign(claims, { ends }))
  const former = await formerSession()
  restore()
  const { client } = world.another({ takeOver: formerLibrary(), session: { expiryClaim: 'ends' } })
  const load = async () => client.getSession(withFormer(former).request('/'))
  expect((await load())?.internal).toMatchObject({ sessionExpiresAt: ends })
  world.events.length = 0
  world.clock.now = ends
  expect(await load()).toBeNull()
  expect(world.events).toContainEqual(
    expect.objectContaining({ code: 'SESSION_NOT_TAKEN_OVER', reason: 'expired' }),
  )
})

test('with DPoP, only tokens that are bound to a key are used as they are', async () => {
  const former = await formerSession()
  const takeOver = formerLibrary()
  const { client } = world.another({ takeOver, useDPoP: true, dpopKeyPair: await generateDpopKeyPair() })
  const { accessToken, refreshToken } = former.tokens ?? {}
  const load = async (tokens: FormerSession['tokens']) =>
    (await client.getSession(withFormer({ ...former, tokens }).request('/')))?.tokenSet
  expect(await load({ accessToken, refreshToken })).toMatchObject({ accessToken: '', refreshToken })
  const bound = { accessToken, token_type: 'DPoP' }
  expect(await load(bound)).toMatchObject({ ...bound, expiresAt: 0 })
})
