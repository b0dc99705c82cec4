import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { withoutWaiting } from '../../test/support/timers.ts'
import type { IdpClientOptions, SessionDataStore } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { listSessions, revokeSession, revokeSessions } from '../flows/administer-sessions.ts'
import { logout } from '../flows/logout.ts'
import { touchSession } from '../flows/touch-session.ts'
import { updateSession } from '../flows/update-session.ts'
import type { Exchange } from '../http/exchange.ts'
import { requestCookies } from '../http/host-state.ts'
import { processWide } from '../lib/registry.ts'
import { memoryStore } from '../stores/memory.ts'
import { redeemInStore } from '../tokens/refresh/redeem-in-store.ts'
import { createSession, freshlyStored } from './model/session.ts'
import type { SessionData } from './model/session-data.ts'
import type { StoredSession } from './model/stored-session.ts'
import type { DistributedSessions } from './storage.ts'

type Member = keyof SessionDataStore

/** A real store that counts what it is asked, and whose members can be made to fail. */
function watched(): {
  readonly store: Required<SessionDataStore>
  readonly down: Set<Member>
  readonly taken: () => Member[]
} {
  const calls: Member[] = []
  const down = new Set<Member>()
  const clock = (): number => 1_800_000_000
  const store = new Proxy(memoryStore({ name: crypto.randomUUID(), clock }), {
    get(target, member: Member) {
      const work = target[member] as (...given: unknown[]) => Promise<unknown>
      return async (...given: unknown[]) => {
        calls.push(member)
        if (down.has(member)) throw new Error('the store is down')
        return work(...given)
      }
    },
  })
  return { store, down, taken: () => calls.splice(0) }
}

let { store, down, taken } = watched()
let cookies: Cookies
let one: { engine: Engine; clock: { now: number } }

const engineWith = (options: IdpClientOptions = {}): typeof one =>
  engineFor({ sessionStore: store, logoutStrategy: 'v2', ...options })

function sessionAt(now: number, sub = 'alice'): SessionData {
  const tokenSet = { accessToken: 'first', expiresAt: now + 3600, refreshToken: 'r1' }
  return createSession({ claims: { sub }, tokenSet, now })
}

async function signIn(sub = 'alice', jar = cookies): Promise<void> {
  const exchange = jar.exchange()
  await one.engine.sessions.save(exchange, freshlyStored(sessionAt(one.clock.now, sub), one.clock.now))
  jar.take(exchange)
  taken()
}

async function session(exchange: Exchange = cookies.exchange()): Promise<StoredSession> {
  const found = await one.engine.sessions.load(exchange)
  if (!found) throw new Error('nobody is signed in')
  return found
}

const storeOf = async ({ sessions }: Engine): Promise<DistributedSessions> =>
  (await sessions.distributed?.()) ?? expect.fail('sessions are in a store')

/** A redemption that rotates the refresh token. */
const rotated =
  (refreshToken: string, changes: Partial<SessionData> = {}) =>
  async (current: StoredSession): Promise<{ session: StoredSession }> => {
    const tokenSet = { ...current.data.tokenSet, accessToken: `of ${refreshToken}`, refreshToken }
    return { session: { ...current, data: { ...current.data, ...changes, tokenSet } } }
  }

async function redeem(...given: Parameters<typeof rotated>): Promise<StoredSession> {
  const current = await session()
  return (await redeemInStore(await storeOf(one.engine), current, rotated(...given))).session
}

beforeEach(async () => {
  ;({ store, down, taken } = watched())
  cookies = new Cookies()
  one = engineWith()
  await signIn()
})
afterEach(() => ((globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined))

const leave = { federated: false, correlationId: 'x' }

test('[B11] a redemption gets the time at which its lock expires', async () => {
  const { lock: _lock, ...unlocked } = store
  const [lasting, free] = [engineWith(), engineWith({ sessionStore: unlocked })]
  const untils: (number | undefined)[] = []
  for (const { engine } of [lasting, free]) {
    const begun = performance.now()
    await redeemInStore(await storeOf(engine), await session(), async (current, until) => {
      untils.push(until && until - begun)
      return { session: current }
    })
  }
  const [left = 0, none] = untils
  // Two requests, two attempts to write and a second make up the lock.
  expect(Math.round(left / 1000)).toBe(15)
  expect(none).toBeUndefined()
})

test('[C8] an update does not undo the scope that a guard requested in a concurrent login', async () => {
  const early = cookies.exchange()
  const before = await session(early)
  const late = cookies.exchange()
  const { data, ...current } = await session(late)
  const tokenSet = { ...data.tokenSet, accessToken: 'of the step-up' }
  await one.engine.sessions.save(late, { ...current, data: { ...data, tokenSet }, ownScope: 'transfer' })
  await updateSession(one.engine, early, { ...before.data, theme: 'dark' })
  const after = await session()
  expect(after.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'of the step-up' } })
  expect(after.ownScope).toBe('transfer')
})

describe('tokens that the store rejected', () => {
  test('are not lost by the update of a request that began before', async () => {
    const early = cookies.exchange()
    const before = await session(early)
    down.add('update')
    await withoutWaiting(() => redeem('r2'))
    down.clear()
    await updateSession(one.engine, early, { ...before.data, theme: 'dark' })
    const { data } = await session()
    expect(data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'of r2', refreshToken: 'r2' } })
    const records = await store.listBySubject('alice')
    expect(records.map((record) => record.session.tokenSet.refreshToken)).toEqual(['r2'])
  })

  test('are discarded if another process has redeemed a later refresh token', async () => {
    down.add('update')
    await withoutWaiting(() => redeem('r2'))
    down.clear()
    const [{ id = '', session: record } = {}] = await store.listBySubject('alice')
    if (!record) throw new Error('there is a record')
    // The response was lost, not the write: another process redeemed the stored token.
    const tokenSet = { ...record.tokenSet, accessToken: 'of r3', refreshToken: 'r3' }
    await store.set(id, { ...record, tokenSet }, { expiresAt: one.clock.now + 3600 })
    const exchange = cookies.exchange()
    expect((await session(exchange)).data.tokenSet.refreshToken).toBe('r3')
    await touchSession(one.engine, exchange)
    expect((await session()).data.tokenSet).toMatchObject({ accessToken: 'of r3', refreshToken: 'r3' })
    expect((await store.get(id))?.tokenSet.refreshToken).toBe('r3')
  })

  test('are discarded by a retry if another process has redeemed the refresh token meanwhile', async () => {
    const { delete: remove, get, set, update } = store
    let attempts = 0
    const sessionStore: SessionDataStore = {
      delete: remove,
      get,
      set,
      async update(id, change, expiry) {
        const record = await get(id)
        if (!record) return update(id, change, expiry)
        attempts += 1
        if (attempts === 1) throw new Error('the store is down')
        if (attempts === 2) {
          const tokenSet = { ...record.tokenSet, accessToken: 'of r3', refreshToken: 'r3' }
          await set(id, { ...record, tokenSet }, expiry)
        }
        return update(id, change, expiry)
      },
    }
    one = engineWith({ sessionStore })
    await withoutWaiting(() => redeem('r2'))
    expect(attempts).toBeGreaterThan(1)
    const [{ session: record } = {}] = await store.listBySubject('alice')
    expect(record?.tokenSet).toMatchObject({ accessToken: 'of r3', refreshToken: 'r3' })
  })

  test('are not lost if the store once does not find the record', async () => {
    const { delete: remove, get, set, update } = store
    let isBehind = false
    const sessionStore = {
      delete: remove,
      get: async (id: string) => (isBehind ? null : get(id)),
      set,
      update,
    }
    one = engineWith({ sessionStore })
    down.add('update')
    await withoutWaiting(() => redeem('r2'))
    down.clear()
    isBehind = true
    expect((await session()).data.tokenSet.refreshToken).toBe('r2')
    isBehind = false
    expect((await session()).data.tokenSet.refreshToken).toBe('r2')
  })

  test.each(['r1', 'r2'])(
    'undo no change of another process if their write was not confirmed: %s',
    async (token) => {
      const { lock: _lock, ...unlocked } = store
      const update: typeof store.update = async (...given) => {
        const written = await store.update(...given)
        if (written) throw new Error('the response was lost')
        return written
      }
      one = engineWith({ sessionStore: { ...unlocked, update } })
      await withoutWaiting(() => redeem(token, { user: { sub: 'alice', name: 'Alice' } }))
      const [{ id = '' } = {}] = await store.listBySubject('alice')
      const rename = (record: SessionData): SessionData => ({
        ...record,
        user: { sub: 'alice', name: 'Bob' },
      })
      await store.update(id, rename, { expiresAt: one.clock.now + 3600 })
      expect((await session()).data).toMatchObject({
        user: { name: 'Bob' },
        tokenSet: { refreshToken: token },
      })
    },
  )

  test.each(['a use', 'a retry'])('undo no update that is written just before them: %s', async (kind) => {
    const { lock: _lock, ...unlocked } = store
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    let opened = true
    const update: typeof store.update = async (...given) => {
      while (!opened) await turn()
      return store.update(...given)
    }
    one = engineWith({ sessionStore: { ...unlocked, update } })
    // The first write also calls `update` for an id without a record.
    await redeem('r1')
    down.add('update')
    await withoutWaiting(() => redeem('r2', { user: { sub: 'alice', name: 'Alice' } }))
    down.clear()
    const [updating, using] = [cookies.exchange(), cookies.exchange()]
    const { data, sessionKey } = await session(updating)
    await session(using)
    opened = false
    const updated = updateSession(one.engine, updating, { ...data, user: { ...data.user, name: 'Bob' } })
    const records = await storeOf(one.engine)
    for (let turns = 0; turns < 20; turns++) await turn()
    const later = kind === 'a use' ? touchSession(one.engine, using) : records.flush(sessionKey)
    for (let turns = 0; turns < 20; turns++) await turn()
    opened = true
    await Promise.all([updated, later])
    const after = await session()
    expect(after.data).toMatchObject({ user: { name: 'Bob' }, tokenSet: { refreshToken: 'r2' } })
  })

  test('are stored completely if a second write is rejected too', async () => {
    const { delete: remove, get, set, update } = store
    one = engineWith({ sessionStore: { delete: remove, get, set, update } })
    down.add('update')
    await withoutWaiting(() => redeem('r2', { user: { sub: 'alice', name: 'Alice' } }))
    await withoutWaiting(() => redeem('r3'))
    down.clear()
    const exchange = cookies.exchange()
    expect(await touchSession(one.engine, exchange)).toBe(true)
    const { data } = await session()
    expect(data).toMatchObject({ user: { name: 'Alice' }, tokenSet: { refreshToken: 'r3' } })
  })
})

describe('a logout whose deletion fails', () => {
  test('restores no session in a pending request', async () => {
    const [late, last] = [cookies.exchange(), cookies.exchange()]
    await session(late)
    down.add('delete')
    await logout(one.engine, last, leave)
    expect(await one.engine.sessions.load(last)).toBeNull()
    one.clock.now += 400
    await touchSession(one.engine, late)
    await expect(updateSession(one.engine, late, sessionAt(0))).rejects.toMatchObject({
      code: 'MISSING_SESSION',
    })
    const captured = new Map(cookies.stored)
    cookies.take(last)
    cookies.take(late)
    expect(cookies.stored.has('__session')).toBe(false)
    for (const [name, cookie] of captured) cookies.stored.set(name, cookie)
    await expect(session()).rejects.toThrow('nobody')
    down.clear()
    await expect(session()).rejects.toThrow('nobody')
    expect(await listSessions(one.engine, 'alice')).toEqual([])
    // The record is gone, so that requests with the old cookie only read.
    taken()
    await expect(session()).rejects.toThrow('nobody')
    expect(taken()).toEqual(['get'])
  })

  test('deletes the record at once by a second attempt, and drops the tokens that the store had rejected', async () => {
    down.add('update')
    await withoutWaiting(() => redeem('r2'))
    let failures = 1
    const remove: typeof store.delete = (id) =>
      failures-- > 0 ? Promise.reject(new Error('the connection was closed')) : store.delete(id)
    const members = { get: store.get, set: store.set, update: store.update, delete: remove }
    await logout(engineWith({ sessionStore: members }).engine, cookies.exchange(), leave)
    expect(await store.listBySubject('alice')).toEqual([])
    expect(processWide('state:pending-writes/4', () => new Map()).size).toBe(0)
  })
})

describe('administration', () => {
  test('an invalid session id does not reach the store', async () => {
    for (const id of ['../secrets', 'a'.repeat(100_000), '__proto__', '*', `${'a'.repeat(42)}\n`]) {
      await expect(revokeSession(one.engine, id)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(taken()).toEqual([])
  })

  test('a store that returns too many records ends no session of another user', async () => {
    const bob = new Cookies()
    await signIn('ALICE', bob)
    const loose = {
      ...store,
      listBySubject: async () => [
        ...(await store.listBySubject('alice')),
        ...(await store.listBySubject('ALICE')),
      ],
    }
    one = engineWith({ sessionStore: loose })
    expect(await listSessions(one.engine, 'alice')).toHaveLength(1)
    expect(await revokeSessions(one.engine, 'alice')).toBe(1)
    expect((await session(bob.exchange())).data.user.sub).toBe('ALICE')
  })
})

test('a request that was sent before another login deletes no cookie, one that was sent before a logout does', async () => {
  const beforeLogin = cookies.exchange()
  await signIn('bob')
  const beforeLogout = cookies.exchange()
  await logout(one.engine, cookies.exchange(), leave)
  const late = [beforeLogin, beforeLogout]
  expect(await Promise.all(late.map(one.engine.sessions.sweep))).toEqual([false, true])
  expect(late.map((exchange) => cookies.take(exchange))).toEqual([[], ['__session']])
})

test('two changes of one request that are based on the same session are both kept', async () => {
  const exchange = cookies.exchange()
  const found = await session(exchange)
  for (const change of [{ theme: 'dark' }, { language: 'fr' }])
    await one.engine.sessions.save(exchange, { ...found, data: { ...found.data, ...change } }, { found })
  expect((await session()).data).toMatchObject({ theme: 'dark', language: 'fr' })
})

describe('one session in many requests', () => {
  test('a thousand requests at once, when a roll is due, read once each and write once', async () => {
    one.clock.now += 400
    const requests = Array.from({ length: 1000 }, () => cookies.exchange())
    await Promise.all(requests.map((exchange) => touchSession(one.engine, exchange)))
    const calls = taken()
    expect(calls.filter((name) => name === 'get')).toHaveLength(1000)
    expect(calls.filter((name) => name === 'update').length).toBe(1)
  })

  test('requests whose use is recorded together have sessions of their own', async () => {
    one.clock.now += 400
    const requests = [cookies.exchange(), cookies.exchange()]
    await Promise.all(requests.map((exchange) => touchSession(one.engine, exchange)))
    const [mine, other] = await Promise.all(requests.map(session))
    expect(mine).toEqual(other)
    expect(mine?.data).not.toBe(other?.data)
  })
})

describe('what a session may hold', () => {
  test('is JSON in the store, whatever the application passes', async () => {
    const seen: SessionData[] = []
    const update: typeof store.update = (id, change, expiry) =>
      store.update(
        id,
        (current) => {
          const changed = change(current)
          seen.push(changed)
          return changed
        },
        expiry,
      )
    const { delete: remove, get, set } = store
    one = engineWith({ sessionStore: { delete: remove, get, set, update } })
    const exchange = cookies.exchange()
    const { data } = await session(exchange)
    const at = new Date(0)
    await updateSession(one.engine, exchange, {
      ...data,
      at,
      none: undefined,
      nested: { at, none: undefined },
    })
    expect(seen.at(-1)).toMatchObject({ at: at.toJSON(), nested: { at: at.toJSON() } })
    expect(JSON.parse(JSON.stringify(seen.at(-1)))).toStrictEqual(seen.at(-1))
  })

  test.each([
    ['a BigInt', () => 1n],
    [
      'a circle',
      () => {
        const a: Record<string, unknown> = {}
        a['a'] = a
        return a
      },
    ],
  ])('%s is rejected, and is not reported as a failure of the store', async (_name, make) => {
    const exchange = cookies.exchange()
    const { data } = await session(exchange)
    const outcome = updateSession(one.engine, exchange, { ...data, value: make() })
    await expect(outcome).rejects.toMatchObject({ code: 'MISSING_SESSION_DATA' })
    expect(cookies.take(exchange)).toEqual([])
  })
})

test('[I3] one of two live sessions in a request is used in any order, and nothing is mixed', async () => {
  const real = cookies.stored.get('__session')?.value ?? ''
  const other = new Cookies()
  one.clock.now += 1
  await signIn('bob', other)
  const tossed = other.stored.get('__session')?.value ?? ''
  const idOf = async (sub: string) => (await listSessions(one.engine, sub))[0]?.id ?? ''
  const before = await store.get(await idOf('alice'))
  for (const values of [
    [tossed, real],
    [real, tossed],
    ['garbage', real, tossed, tossed.slice(0, -4)],
  ]) {
    const exchange = { ...cookies.exchange(), ...requestCookies(new Map([['__session', values]])) }
    const { data } = await session(exchange)
    expect(data).toEqual(sessionAt(one.clock.now, 'bob'))
    await updateSession(one.engine, exchange, { ...data, values: values.length })
    expect(await store.get(await idOf('bob'))).toMatchObject({ user: { sub: 'bob' }, values: values.length })
    await updateSession(one.engine, exchange, data)
    // The cookie of the response names the selected session.
    const [cookie] = exchange.cookies.pending()
    const again = {
      ...cookies.exchange(),
      ...requestCookies(new Map([['__session', cookie?.value ?? '']])),
    }
    expect((await session(again)).data.user.sub).toBe('bob')
  }
  expect(await store.get(await idOf('alice'))).toEqual(before)
})

test('[I3] a foreign cookie of the same name does not hide a session', async () => {
  const real = cookies.stored.get('__session')?.value ?? ''
  for (const values of [
    ['garbage', real],
    [real, 'garbage'],
  ]) {
    const exchange = cookies.exchange()
    const tossed = { ...exchange, ...requestCookies(new Map([['__session', values]])) }
    expect((await session(tossed)).data.user.sub).toBe('alice')
  }
})

test('a recorded use that the store never completes delays later ones until its deadline', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  let isHanging = true
  const { update } = store
  const hanging: SessionDataStore = {
    ...Object.fromEntries((['get', 'set', 'delete', 'lock'] as const).map((name) => [name, store[name]])),
    update: (...given: Parameters<typeof update>) => {
      if (!isHanging) return update(...given)
      return given[0].length === 43 ? new Promise(() => {}) : Promise.resolve(null)
    },
  } as SessionDataStore
  const { clock, engine } = engineWith({ sessionStore: hanging, httpTimeout: 700 })
  clock.now += 400
  void touchSession(engine, cookies.exchange())
  await vi.advanceTimersByTimeAsync(1)
  isHanging = false
  await vi.advanceTimersByTimeAsync(700)
  const later = touchSession(engine, cookies.exchange())
  await vi.advanceTimersByTimeAsync(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.race([later, vi.advanceTimersByTimeAsync(5000).then(() => 'still waiting')])).toBe(
    true,
  )
  vi.useRealTimers()
})

test('rejected writes of many refreshes stay bounded, and are written on top of the first token', async () => {
  const { lock: _lock, ...unlocked } = store
  one = engineWith({ sessionStore: unlocked })
  await redeem('r1')
  down.add('update')
  for (let at = 2; at < 42; at++) await withoutWaiting(() => redeem(`r${at}`))
  const kept = processWide('state:pending-writes/4', () => new Map<string, { consumed: unknown[] }>())
  const [[, late] = []] = [...kept.entries()]
  expect(late?.consumed.length).toBeLessThanOrEqual(16)
  down.clear()
  await redeem('r42')
  const [{ id = '' } = {}] = await listSessions(one.engine, 'alice')
  expect(await store.get(id)).toMatchObject({ tokenSet: { refreshToken: 'r42' } })
})

test('a record that was replaced by something else is not made a session again', async () => {
  const exchange = cookies.exchange()
  const { data } = await session(exchange)
  const [id = ''] = (await listSessions(one.engine, 'alice')).map((info) => info.id)
  await store.set(id, { ...sessionAt(0), tokenSet: 7 } as unknown as SessionData, {
    expiresAt: 4_000_000_000,
  })
  await expect(updateSession(one.engine, exchange, { ...data, a: 1 })).rejects.toMatchObject({
    code: 'MISSING_SESSION',
  })
  await expect(session()).rejects.toThrow('nobody')
})

test('[C9] a lock that could not be released is released again, and a second failure is reported', async () => {
  let failures = 1
  const { events, options } = (() => {
    const events: unknown[] = []
    return { events, options: { logger: (event: unknown) => void events.push(event) } }
  })()
  const failing: SessionDataStore = {
    ...Object.fromEntries((['get', 'set', 'delete', 'update'] as const).map((name) => [name, store[name]])),
    async lock(id: string, milliseconds: number) {
      const lock = await store.lock(id, milliseconds)
      return (
        lock && {
          async release() {
            if (failures-- > 0) throw new Error('the connection was idle for long')
            await lock.release()
          },
        }
      )
    },
  } as SessionDataStore
  one = engineWith({ sessionStore: failing, ...options })
  await redeem('r2')
  const id = (await listSessions(engineWith().engine, 'alice'))[0]?.id ?? ''
  const free = await store.lock(id, 1000)
  expect(free).not.toBeNull()
  await free?.release()
  expect(events).toEqual([])
  failures = 2
  await redeem('r3')
  expect(events).toMatchObject([{ code: 'SESSION_STORE_FAILED', operation: 'lock' }])
})
