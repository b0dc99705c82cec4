import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Cookies, engineFor, SECRET } from '../../../test/support/engine.ts'
import { withoutWaiting } from '../../../test/support/timers.ts'
import type { IdpClientOptions, SessionDataStore } from '../../config/options.ts'
import type { Engine } from '../../engine.ts'
import { logout } from '../../flows/logout.ts'
import { touchSession } from '../../flows/touch-session.ts'
import { updateSession } from '../../flows/update-session.ts'
import type { Exchange } from '../../http/exchange.ts'
import { findToken, keepProcessToken } from '../../tokens/refresh/process-tokens.ts'
import { redeemInStore } from '../../tokens/refresh/redeem-in-store.ts'
import type { RedemptionResult } from '../../tokens/refresh/state.ts'
import { toTokenRequest } from '../../tokens/token-request.ts'
import { createSession, freshlyStored } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'

/** The least that a store must have, with what was asked of it; `down` makes the named members fail. */
class MapStore implements SessionDataStore {
  readonly records = new Map<string, string>()
  readonly calls: string[] = []
  readonly down = new Set<string>()

  #call(name: string): void {
    this.calls.push(name)
    if (this.down.has(name)) throw new Error('the store is down')
  }

  async get(id: string): Promise<SessionData | null> {
    this.#call('get')
    const text = this.records.get(id)
    return text === undefined ? null : JSON.parse(text)
  }

  async set(id: string, session: SessionData): Promise<void> {
    this.#call('set')
    this.records.set(id, JSON.stringify(session))
  }

  async delete(id: string): Promise<void> {
    this.#call('delete')
    this.records.delete(id)
  }

  taken(): string[] {
    return this.calls.splice(0)
  }

  /** The only record. */
  get record(): SessionData {
    const [text] = this.records.values()
    if (text === undefined) throw new Error('the store is empty')
    return JSON.parse(text)
  }
}

let store: MapStore
let cookies: Cookies

beforeEach(() => {
  store = new MapStore()
  cookies = new Cookies()
})

function storeEngine(options: IdpClientOptions = {}): { engine: Engine; clock: { now: number } } {
  return engineFor({ sessionStore: store, ...options })
}

function sessionAt(now: number, sub = 'alice'): SessionData {
  const tokenSet = { accessToken: `${sub}-token`, expiresAt: now + 3600, refreshToken: `${sub}-refresh` }
  return createSession({ claims: { sub, sid: `${sub}-sid` }, tokenSet, now })
}

async function signIn({ engine, clock }: ReturnType<typeof storeEngine>, sub = 'alice', jar = cookies) {
  const exchange = jar.exchange()
  await engine.sessions.save(exchange, freshlyStored(sessionAt(clock.now, sub), clock.now))
  jar.take(exchange)
  store.taken()
}

async function loaded(engine: Engine, exchange: Exchange = cookies.exchange()): Promise<SessionData | null> {
  return (await engine.sessions.load(exchange))?.data ?? null
}

describe('cookie and record', () => {
  test('[S016, S017, S020, S057] a session is in the store, and the cookie contains only its key', async () => {
    const { engine, clock } = storeEngine()
    await signIn({ engine, clock })
    expect([...cookies.stored.keys()]).toEqual(['__session'])
    expect(cookies.bytes()).toBeLessThan(300)
    expect(await loaded(engine)).toEqual(sessionAt(clock.now))
    const [id = ''] = store.records.keys()
    expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(store.record.internal).toMatchObject({ sid: 'alice-sid', createdAt: clock.now, sub: 'alice' })
  })

  test('neither the id of a record nor another kind of cookie is a session', async () => {
    const { engine, clock } = storeEngine()
    await signIn({ engine, clock })
    const [id = ''] = store.records.keys()
    const inCookies = engineFor({})
    const other = new Cookies()
    const exchange = other.exchange()
    await inCookies.engine.sessions.save(exchange, freshlyStored(sessionAt(clock.now), clock.now))
    other.take(exchange)
    const foreign = other.stored.get('__session')
    const real = cookies.stored.get('__session')
    if (!foreign || !real) throw new Error('there are two cookies')
    for (const value of [id, `${id}.${id}`, foreign.value, real.value.slice(0, -2), `${real.value}AA`]) {
      cookies.stored.set('__session', { ...real, value })
      expect(await loaded(engine)).toBeNull()
    }
    expect(store.taken()).toEqual([])
    other.stored.set('__session', real)
    expect(await loaded(inCookies.engine, other.exchange())).toBeNull()
  })

  test('the cookie of another client with the same secret and store is rejected', async () => {
    const { engine, clock } = storeEngine()
    await signIn({ engine, clock })
    expect(await loaded(storeEngine({ clientId: 'other' }).engine)).toBeNull()
    expect(store.taken()).toEqual([])
    expect(await loaded(engine)).not.toBeNull()
  })

  test('secrets rotate: old cookies are decrypted with the old secret, new ones encrypted with the new one, and a removed secret ends its sessions', async () => {
    const one = storeEngine()
    await signIn(one)
    const next = 'another secret of thirty-two characters'
    const both = storeEngine({ secret: [next, SECRET] })
    const exchange = cookies.exchange()
    await updateSession(both.engine, exchange, { ...sessionAt(one.clock.now), theme: 'dark' })
    cookies.take(exchange)
    expect(await loaded(storeEngine({ secret: next }).engine)).toMatchObject({ theme: 'dark' })
    expect(await loaded(one.engine)).toBeNull()
  })

  test('a login gets a new session key, and the record of the previous session is deleted', async () => {
    const one = storeEngine()
    await signIn(one)
    const [before] = store.records.keys()
    await signIn(one, 'bob')
    const [after, ...more] = store.records.keys()
    expect(more).toEqual([])
    expect(after).not.toBe(before)
    expect(await loaded(one.engine)).toMatchObject({ user: { sub: 'bob' } })
  })

  test.each([
    ['text', '"garbage"'],
    ['a number', '7'],
    ['no user', '{"tokenSet":{},"internal":{"createdAt":1800000000}}'],
    ['no token set', '{"user":{"sub":"a"},"internal":{"createdAt":1800000000}}'],
    ['no internal', '{"user":{"sub":"a"},"tokenSet":{}}'],
    ['an empty subject', '{"user":{"sub":""},"tokenSet":{},"internal":{"createdAt":1800000000}}'],
    ['a list', '[]'],
  ])('a record that is %s is rejected', async (_name, text) => {
    const one = storeEngine()
    await signIn(one)
    const [id = ''] = store.records.keys()
    store.records.set(id, text)
    expect(await loaded(one.engine)).toBeNull()
  })

  test('properties with dangerous names in a record do not change a prototype', async () => {
    const one = storeEngine()
    await signIn(one)
    const [id = ''] = store.records.keys()
    const record = JSON.stringify(store.record).replace('{', '{"__proto__":{"polluted":1},"then":"x",')
    store.records.set(id, record)
    expect(await loaded(one.engine)).toMatchObject({ user: { sub: 'alice' } })
    expect('polluted' in {}).toBe(false)
  })

  test('a record of plain data that lacks what the library adds, and has dates, is a session', async () => {
    const made = storeEngine()
    await signIn(made)
    const { internal, ...session } = store.record
    const { id, createdAt } = internal as { id?: string; createdAt: number }
    const get = async () =>
      ({ ...session, visits: [new Date(0)], internal: { id, createdAt } }) as SessionData
    const { engine } = storeEngine({ sessionStore: { get, set: store.set, delete: store.delete } })
    const loaded = await engine.sessions.load(cookies.exchange())
    expect(loaded).toMatchObject({ usedAt: createdAt, data: { user: session.user } })
    expect(loaded?.data['visits']).toEqual(['1970-01-01T00:00:00.000Z'])
  })

  test('changes of the application to a session object change no record', async () => {
    const one = storeEngine()
    const live = sessionAt(one.clock.now)
    const objects = new Map<string, SessionData>()
    const sharing: SessionDataStore = {
      get: async (id) => objects.get(id) ?? null,
      set: async (id, session) => {
        objects.set(id, session)
      },
      delete: async (id) => {
        objects.delete(id)
      },
    }
    const { engine } = engineFor({ sessionStore: sharing })
    const exchange = cookies.exchange()
    await engine.sessions.save(exchange, freshlyStored(live, one.clock.now))
    cookies.take(exchange)
    const session = await loaded(engine)
    if (session) session.user.name = 'changed'
    expect((await loaded(engine))?.user.name).toBeUndefined()
  })
})

describe('lifetime', () => {
  test('both limits apply although the store still has the record', async () => {
    const one = storeEngine()
    await signIn(one)
    one.clock.now += 86_399
    expect(await loaded(one.engine)).not.toBeNull()
    one.clock.now += 1
    expect(await loaded(one.engine)).toBeNull()
    await signIn(one)
    for (let hours = 0; hours < 72; hours += 12) {
      expect(await loaded(one.engine)).not.toBeNull()
      const exchange = cookies.exchange()
      await touchSession(one.engine, exchange)
      cookies.take(exchange)
      one.clock.now += 43_200
    }
    expect(await loaded(one.engine)).toBeNull()
  })

  test('a hundred requests in a minute need one read each, and one write and one cookie at most', async () => {
    const one = storeEngine()
    await signIn(one)
    one.clock.now += 300
    const written: string[] = []
    for (let request = 0; request < 100; request++) {
      const exchange = cookies.exchange()
      await touchSession(one.engine, exchange)
      await loaded(one.engine, exchange)
      written.push(...cookies.take(exchange))
    }
    expect(written).toEqual(['__session'])
    expect(store.taken().filter((name) => name === 'set')).toHaveLength(1)
  })

  test('a cookie that is older than the record is renewed before it expires', async () => {
    const one = storeEngine()
    await signIn(one)
    const stale = new Map(cookies.stored)
    one.clock.now += 400
    const exchange = cookies.exchange()
    await touchSession(one.engine, exchange)
    // The response is lost: the use is in the record, but not in the cookie.
    cookies.stored.clear()
    for (const [name, cookie] of stale) cookies.stored.set(name, cookie)
    const next = cookies.exchange()
    expect(await touchSession(one.engine, next)).toBe(true)
    expect(cookies.take(next)).toEqual(['__session'])
    expect(await touchSession(one.engine, cookies.exchange())).toBe(false)
  })

  test.each([3000, 7200])('after the clock was set back, the cookie is renewed once: %i s', async (back) => {
    const one = storeEngine({ session: { inactivityDuration: 600 } })
    await signIn(one)
    const touched = async (seconds: number): Promise<boolean> => {
      one.clock.now += seconds
      const exchange = cookies.exchange()
      await touchSession(one.engine, exchange)
      return cookies.take(exchange).length > 0
    }
    for (let used = 0; used < 9000; used += 500) await touched(500)
    expect([await touched(-back), await touched(1), await touched(1)]).toEqual([true, false, false])
  })
})

describe('concurrent writes', () => {
  test('updates of two requests that read the same session are both kept', async () => {
    const one = storeEngine()
    await signIn(one)
    const [first, second] = [cookies.exchange(), cookies.exchange()]
    const [a, b] = [await loaded(one.engine, first), await loaded(one.engine, second)]
    if (!a || !b) throw new Error('nobody is signed in')
    await updateSession(one.engine, first, { ...a, cart: ['book'] })
    await updateSession(one.engine, second, { ...b, theme: 'dark' })
    expect(await loaded(one.engine)).toMatchObject({ cart: ['book'], theme: 'dark' })
  })

  test('a change of ownScope alone is written although another request records use', async () => {
    const { engine, clock } = storeEngine()
    await signIn({ engine, clock })
    const [using, changing] = [cookies.exchange(), cookies.exchange()]
    const [used, changed] = [await engine.sessions.load(using), await engine.sessions.load(changing)]
    if (!used || !changed) throw new Error('there is a session')
    clock.now += 1
    await Promise.all([
      engine.sessions.save(using, used),
      engine.sessions.save(changing, { ...changed, ownScope: 'read:orders' }),
    ])
    expect(await engine.sessions.load(cookies.exchange())).toMatchObject({ ownScope: 'read:orders' })
  })

  test('an update removes the properties that it omits, but not those that another writer added', async () => {
    const one = storeEngine()
    await signIn(one)
    const begin = cookies.exchange()
    const session = await loaded(one.engine, begin)
    if (!session) throw new Error('nobody is signed in')
    await updateSession(one.engine, begin, { ...session, cart: ['book'], theme: 'dark' })
    const [first, second] = [cookies.exchange(), cookies.exchange()]
    const [a, b] = [await loaded(one.engine, first), await loaded(one.engine, second)]
    if (!a || !b) throw new Error('nobody is signed in')
    const { cart: _bought, theme: _plain, ...rest } = a
    await updateSession(one.engine, second, { ...b, cart: ['book', 'pen'] })
    await updateSession(one.engine, first, rest as SessionData)
    const now = await loaded(one.engine)
    expect(now).toMatchObject({ cart: ['book', 'pen'] })
    expect(now).not.toHaveProperty('theme')
  })

  test('a logout takes precedence: pending requests do not restore the session', async () => {
    const one = storeEngine()
    await signIn(one)
    const inFlight = Array.from({ length: 30 }, () => cookies.exchange())
    const sessions = await Promise.all(inFlight.map((exchange) => loaded(one.engine, exchange)))
    const last = cookies.exchange()
    const input = { federated: false, correlationId: 'x', returnTo: '/' }
    const v2 = storeEngine({ logoutStrategy: 'v2' })
    await logout(v2.engine, last, input)
    one.clock.now += 400
    const late = await Promise.allSettled(
      inFlight.map(async (exchange, index) => {
        if (index % 2 === 0) return touchSession(one.engine, exchange)
        return updateSession(one.engine, exchange, { ...(sessions[index] as SessionData), late: index })
      }),
    )
    expect(store.records.size).toBe(0)
    for (const { status, ...rest } of late) {
      if (status === 'rejected') expect(rest).toMatchObject({ reason: { code: 'MISSING_SESSION' } })
    }
    cookies.take(last)
    for (const exchange of inFlight) cookies.take(exchange)
    expect(await loaded(one.engine)).toBeNull()
  })

  test('a request that still has a session whose record is gone writes nothing', async () => {
    const made = storeEngine()
    await signIn(made)
    const session = (await made.engine.sessions.load(cookies.exchange())) ?? expect.fail('there is a session')
    store.records.clear()
    const late = cookies.exchange()
    expect(await made.engine.sessions.save(late, session)).toBe(false)
    expect([store.records.size, late.cookies.pending()]).toEqual([0, []])
  })

  test("two users at once, each in a browser, never get each other's session", async () => {
    const one = storeEngine()
    const users = Array.from({ length: 40 }, (_, index) => ({ sub: `user${index}`, jar: new Cookies() }))
    await Promise.all(users.map(({ jar, sub }) => signIn(one, sub, jar)))
    await Promise.all(
      users.map(async ({ jar, sub }) => {
        const exchange = jar.exchange()
        const session = await loaded(one.engine, exchange)
        await updateSession(one.engine, exchange, { ...(session as SessionData), mine: sub })
        jar.take(exchange)
      }),
    )
    for (const { jar, sub } of users) {
      expect(await loaded(one.engine, jar.exchange())).toMatchObject({ user: { sub }, mine: sub })
    }
  })
})

describe('a store that fails', () => {
  const failing = { code: 'SESSION_STORE_FAILED' }

  test('reading: no session ends, none is created, and reads succeed once the store recovers', async () => {
    const one = storeEngine()
    await signIn(one)
    store.down.add('get')
    const exchange = cookies.exchange()
    await expect(one.engine.sessions.load(exchange)).rejects.toMatchObject(failing)
    await expect(one.engine.sessions.sweep(exchange)).rejects.toMatchObject(failing)
    expect(cookies.take(exchange)).toEqual([])
    store.down.clear()
    expect(await loaded(one.engine)).not.toBeNull()
  })

  test('writing at login: no cookie without a record is set', async () => {
    const one = storeEngine()
    store.down.add('set')
    const exchange = cookies.exchange()
    const session = freshlyStored(sessionAt(one.clock.now), one.clock.now)
    await expect(one.engine.sessions.save(exchange, session)).rejects.toMatchObject(failing)
    expect(cookies.take(exchange)).toEqual([])
  })

  test('rolling: the request succeeds', async () => {
    const one = storeEngine()
    await signIn(one)
    one.clock.now += 400
    store.down.add('set')
    expect(await touchSession(one.engine, cookies.exchange())).toBe(false)
  })

  test('deleting at logout: the cookies are deleted', async () => {
    const one = storeEngine({ logoutStrategy: 'v2' })
    await signIn(one)
    store.down.add('delete')
    const exchange = cookies.exchange()
    await logout(one.engine, exchange, { federated: false, correlationId: 'x' })
    cookies.take(exchange)
    expect(cookies.stored.has('__session')).toBe(false)
  })

  test('reading at logout: the cookies are deleted', async () => {
    const one = storeEngine({ logoutStrategy: 'v2' })
    await signIn(one)
    store.down.add('get')
    const exchange = cookies.exchange()
    await logout(one.engine, exchange, { federated: false, correlationId: 'x' })
    cookies.take(exchange)
    expect(cookies.stored.has('__session')).toBe(false)
    expect(store.records.size).toBe(0)
  })
})

test('a logout drops the access tokens that only this process has', async () => {
  const one = storeEngine({ logoutStrategy: 'v2' })
  await signIn(one)
  const exchange = cookies.exchange()
  const session = (await one.engine.sessions.load(exchange)) ?? expect.fail('there is a session')
  const { config } = one.engine
  const want = {
    ...toTokenRequest(config.authorization, { audience: 'me', mergeScopes: false }),
    processOnly: true,
  } as const
  keepProcessToken(config, session, want, { accessToken: 't', audience: 'me', expiresAt: one.clock.now + 10 })
  expect(findToken(config, session, want)?.accessToken).toBe('t')
  await logout(one.engine, exchange, { federated: false, correlationId: 'x' })
  expect(findToken(config, session, want)).toBeUndefined()
})

describe('redemptions', () => {
  type Work = Parameters<typeof redeemInStore>[2]

  const redeem = async (engine: Engine, session: StoredSession, work: Work): Promise<RedemptionResult> => {
    const store = (await engine.sessions.distributed?.()) ?? expect.fail('sessions are in a store')
    return redeemInStore(store, session, work)
  }

  const renewed = async (current: Awaited<ReturnType<Engine['sessions']['load']>>) => {
    if (!current) throw new Error('nobody is signed in')
    const tokenSet = { ...current.data.tokenSet, accessToken: 'new', refreshToken: 'next' }
    return { session: { ...current, data: { ...current.data, tokenSet } } }
  }

  afterEach(() => ((globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined))

  test('the tokens are in the store before they are returned', async () => {
    const one = storeEngine()
    await signIn(one)
    const session = await one.engine.sessions.load(cookies.exchange())
    if (!session) throw new Error('nobody is signed in')
    await redeem(one.engine, session, renewed)
    expect(store.record.tokenSet).toMatchObject({ accessToken: 'new', refreshToken: 'next' })
  })

  test('without a lock, the loser of a race gets the tokens of the winner', async () => {
    const one = storeEngine()
    await signIn(one)
    const session = await one.engine.sessions.load(cookies.exchange())
    if (!session) throw new Error('nobody is signed in')
    await redeem(one.engine, session, renewed)
    const tried: (string | undefined)[] = []
    const { session: after } = await redeem(
      one.engine,
      session,
      async (current): Promise<RedemptionResult> => {
        const { refreshToken, ...rest } = current.data.tokenSet
        tried.push(refreshToken)
        if (refreshToken === 'next') return { session: current }
        const dead = { ...current, data: { ...current.data, tokenSet: rest } }
        return { session: dead, failure: new Error('invalid_grant') }
      },
    )
    expect(tried).toEqual(['alice-refresh', 'next'])
    expect(after.data.tokenSet.refreshToken).toBe('next')
    expect(store.record.tokenSet.refreshToken).toBe('next')
  })

  test('a session that ended during the redemption stays ended', async () => {
    const one = storeEngine()
    await signIn(one)
    const session = await one.engine.sessions.load(cookies.exchange())
    if (!session) throw new Error('nobody is signed in')
    const ended = redeem(one.engine, session, async (current) => {
      store.records.clear()
      return renewed(current)
    })
    await expect(ended).rejects.toMatchObject({ code: 'MISSING_SESSION' })
    expect(store.records.size).toBe(0)
  })

  test('tokens that the store rejected are reported, kept in the process and written later', async () => {
    const events: unknown[] = []
    const one = storeEngine({ logger: (event) => void events.push(event) })
    await signIn(one)
    const session = await one.engine.sessions.load(cookies.exchange())
    if (!session) throw new Error('nobody is signed in')
    store.down.add('set')
    const { session: kept } = await withoutWaiting(() => redeem(one.engine, session, renewed))
    expect(kept.data.tokenSet.refreshToken).toBe('next')
    expect(events).toContainEqual(expect.objectContaining({ level: 'error', code: 'SESSION_STORE_FAILED' }))
    expect(store.record.tokenSet.refreshToken).toBe('alice-refresh')
    // With the older tokens a call with `refresh: true` finds that they were refreshed, and redeems no further token.
    expect(await one.engine.sessions.load(cookies.exchange())).toMatchObject({
      data: { tokenSet: { refreshToken: 'next' } },
      older: { tokenSet: { refreshToken: 'alice-refresh' } },
    })
    store.down.clear()
    const exchange = cookies.exchange()
    expect(await touchSession(one.engine, exchange)).toBe(true)
    expect(store.record.tokenSet).toMatchObject({ accessToken: 'new', refreshToken: 'next' })
  })

  test('[K1] the platform keeps a request alive while its tokens are written in the background', async () => {
    const one = storeEngine()
    await signIn(one)
    const session = await one.engine.sessions.load(cookies.exchange())
    if (!session) throw new Error('nobody is signed in')
    const kept: Promise<unknown>[] = []
    const context = Symbol.for('@vercel/request-context')
    Reflect.set(globalThis, context, {
      get: () => ({ waitUntil: (work: Promise<unknown>) => kept.push(work) }),
    })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, context))
    store.down.add('set')
    await withoutWaiting(async () => {
      await redeem(one.engine, session, renewed)
      const first = Promise.all([...kept])
      const attempts = kept.length
      const turn = (): Promise<string> => new Promise((resolve) => setImmediate(() => resolve('not ended')))
      // Further attempts fail, too.
      while (kept.length < attempts + 3) await turn()
      expect(await Promise.race([first, turn()])).toBe('not ended')
      store.down.clear()
      await Promise.all(kept)
    })
    expect(store.record.tokenSet.refreshToken).toBe('next')
  })
})
