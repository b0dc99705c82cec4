import { afterEach, describe, expect, test, vi } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { gate } from '../../../test/support/redemptions.ts'
import type { IdpClientOptions, SessionDataStore } from '../../config/options.ts'
import { describe as describeError } from '../../errors/diagnosis.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { SessionData, StoredInternalData } from '../model/session-data.ts'
import { CompleteStore } from './complete-store.ts'

afterEach(() => {
  vi.useRealTimers()
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined
})

function completed(members: Partial<SessionDataStore>, options: IdpClientOptions = {}): CompleteStore {
  const { config } = engineFor(options).engine
  return new CompleteStore(config, { ...memoryStore({ name: crypto.randomUUID() }), ...members })
}

test('waits for a session lock that is never released until the lock would expire, also with a slow store', async () => {
  vi.useFakeTimers()
  const asked: number[] = []
  const store = completed({
    lock: async (_id, milliseconds) => {
      asked.push(milliseconds)
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return null
    },
  })
  const outcome = expect(store.acquireLock('id')).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
  await vi.runAllTimersAsync()
  await outcome
  // Two requests to the provider, two spells of retries, and a second.
  expect(new Set(asked)).toEqual(new Set([15_000]))
  expect(asked).toHaveLength(8)
})

test('[E4] the lock is held for sessionLockTimeout, also with a shorter httpTimeout', async () => {
  const asked: number[] = []
  const lock: SessionDataStore['lock'] = async (_id, milliseconds) => {
    asked.push(milliseconds)
    return { release: async () => {} }
  }
  for (const options of [
    {},
    { httpTimeout: 1000 },
    { sessionLockTimeout: 60_000 },
    { httpTimeout: 10_000 },
  ]) {
    await completed({ lock }, options).acquireLock('id')
  }
  expect(asked).toEqual([15_000, 15_000, 60_000, 25_000])
})

test('the time of a lock counts from its request, since the store may respond late', async () => {
  vi.useFakeTimers()
  const store = completed({
    lock: async () => {
      await new Promise((resolve) => setTimeout(resolve, 4000))
      return { release: async () => {} }
    },
  })
  const start = performance.now()
  const acquiring = store.acquireLock('id')
  await vi.runAllTimersAsync()
  expect((await acquiring)?.until).toBe(start + 15_000)
})

const internal: StoredInternalData = { createdAt: 0, id: 'id' }
const session: SessionData = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'token', expiresAt: 0 },
  internal,
}
const later = { expiresAt: 4_000_000_000 }

test('a hundred updates of one session at once are serialized, so that the store never has to repeat one', async () => {
  const inner = memoryStore({ name: crypto.randomUUID() })
  await inner.set('id', { ...session, count: 0 }, later)
  let made = 0
  const store = completed({
    // Optimistic, as databases do it: a change after another writer is applied again.
    update: async (id, change, expiry) => {
      for (;;) {
        const before = await inner.get(id)
        if (!before) return null
        const changed = change(before)
        made++
        await new Promise((resolve) => setImmediate(resolve))
        const now = await inner.get(id)
        if (now?.['count'] !== before['count']) continue
        await inner.set(id, changed, expiry)
        return changed
      }
    },
  })
  const increase = (current: SessionData): SessionData => ({
    ...current,
    count: Number(current['count']) + 1,
  })
  await Promise.all(Array.from({ length: 100 }, () => store.update('id', increase, later, async () => {})))
  expect((await inner.get('id'))?.['count']).toBe(100)
  expect(made).toBe(100)
})

test('an update that never completes delays the next one for a limited time', async () => {
  vi.useFakeTimers()
  const inner = memoryStore({ name: crypto.randomUUID() })
  await inner.set('id', session, later)
  let isFirst = true
  const store = completed({
    update: (...given) => {
      if (!isFirst) return inner.update(...given)
      isFirst = false
      return new Promise(() => {})
    },
  })
  store
    .update(
      'id',
      (current) => current,
      later,
      async () => {},
    )
    .catch(() => {})
  const next = store.update(
    'id',
    (current) => ({ ...current, theme: 'dark' }),
    later,
    async (record) => record,
  )
  await vi.runAllTimersAsync()
  expect(await next).toMatchObject({ theme: 'dark' })
})

test('a change that the store never completes delays later ones of the record for httpTimeout, also without update', async () => {
  vi.useFakeTimers()
  const never = new Promise<void>(() => {})
  let isHanging = true
  const records = new Map([['id', session]])
  const store = completed(
    {
      update: undefined as never,
      get: async (id) => records.get(id) ?? null,
      set: async (id, changed) => (isHanging ? never : void records.set(id, changed)),
    },
    { httpTimeout: 700 },
  )
  const change = (current: SessionData): SessionData => ({ ...current, changed: true })
  void store.update('id', change, { expiresAt: 1 }, async () => {})
  await vi.advanceTimersByTimeAsync(1)
  isHanging = false
  const second = store.update('id', change, { expiresAt: 1 }, async (record) => record)
  await vi.advanceTimersByTimeAsync(700)
  expect(await second).toMatchObject({ changed: true })
  await store.delete('id')
})

test('without update, a record that is deleted while it is changed stays deleted', async () => {
  const inner = memoryStore({ name: crypto.randomUUID() })
  await inner.set('id', session, later)
  const [writing, written] = [gate(), gate()]
  const store = completed({
    ...inner,
    update: undefined as never,
    set: async (...given) => {
      writing.open()
      await written.opened
      await inner.set(...given)
    },
  })
  const changing = store.update(
    'id',
    (current) => current,
    later,
    async () => {},
  )
  await writing.opened
  const deleting = store.delete('id')
  // The store has responded to a deletion that did not wait.
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  written.open()
  await Promise.all([changing, deleting])
  expect(await inner.get('id')).toBeNull()
})

test.each(['before and while', 'only while'])(
  'without update, the sessions of a user that are changed %s they are deleted stay deleted',
  async (times) => {
    const inner = memoryStore({ name: crypto.randomUUID() })
    await inner.set('id', session, later)
    const settled = async (): Promise<void> => {
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    }
    const [first, deleted] = [gate(), gate()]
    const writes = times === 'only while' ? [deleted] : [first, deleted]
    const changing: Promise<void>[] = []
    const store = completed({
      ...inner,
      update: undefined as never,
      set: async (...given) => {
        await writes.shift()?.opened
        await inner.set(...given)
      },
      async deleteBySubject(sub) {
        change()
        await settled()
        const count = await inner.deleteBySubject(sub)
        deleted.open()
        await settled()
        return count
      },
    })
    const change = (): void => {
      const settle = async (): Promise<void> => {}
      changing.push(store.update('id', (current) => current, later, settle))
    }
    if (times !== 'only while') change()
    const deleting = store.deleteBySubject(session.user.sub)
    if (times !== 'only while') change()
    await settled()
    first.open()
    await deleting
    await Promise.all(changing)
    expect(await inner.get('id')).toBeNull()
  },
)

test('[C7] a session of a store is copied as JSON has it, whatever types the store returns', async () => {
  const sessionOf = (user: object): SessionData => ({ ...session, user: { sub: 'a', ...user } })
  const plain = sessionOf({ roles: [{ name: 'r' }], none: null, on: true, ['__proto__']: { x: 1 } })
  const other = sessionOf({
    at: new Date(0),
    score: Number.NaN,
    missing: undefined,
    list: [undefined, () => 1],
    // biome-ignore lint/suspicious/noSparseArray: a store may return one
    holes: [1, , 2],
    own: { toJSON: () => 'text' },
    map: Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
    bare: Object.assign(Object.create(null), { a: 1 }),
  })
  for (const data of [plain, other]) {
    const copy = (await completed({ get: async () => data }).get('id')) as SessionData
    expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
    expect(copy).toEqual(JSON.parse(JSON.stringify(data)))
    copy.user.sub = 'other'
    expect(data.user.sub).toBe('a')
  }
})

const { engine, clock } = engineFor()
const expiry = { expiresAt: clock.now + 100 }
const failing = (): Promise<void> => Promise.reject(new Error('not now'))

const plain = (): SessionDataStore => ({ get: async () => null, set: async () => {}, delete: async () => {} })

/** Stores that a process has of its own, over names that all of them share. */
function storeOver(names: Set<string>, once: SessionDataStore['once'] = async () => true): CompleteStore {
  return new CompleteStore(engine.config, {
    ...plain(),
    async once(name, until) {
      if (!(await once(name, until)) || names.has(name)) return false
      names.add(name)
      return true
    },
  })
}

const storeWithoutNames = (): CompleteStore => new CompleteStore(engine.config, plain())

function counted(): { work: () => Promise<void>; times: () => number } {
  let times = 0
  return {
    async work() {
      times++
    },
    times: () => times,
  }
}

describe.each([
  ['a store that remembers names', () => storeOver(new Set())],
  ['a store that remembers none', storeWithoutNames],
])('an operation with the name %s', (_title, make) => {
  test('runs once', async () => {
    const store = make()
    const { times, work } = counted()
    expect(await store.once('order', expiry, work)).toBe(true)
    expect(await store.once('order', expiry, work)).toBe(false)
    expect(await store.once('other', expiry, work)).toBe(true)
    expect(times()).toBe(2)
  })

  test('shares its result with concurrent callers', async () => {
    const store = make()
    const { times, work } = counted()
    const together = Array.from({ length: 5 }, () => store.once('order', expiry, work))
    expect([await Promise.all(together), times()]).toEqual([[true, true, true, true, true], 1])
    const others = Array.from({ length: 3 }, () => store.once('x', expiry, failing))
    const outcomes = await Promise.allSettled(others)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  test('counts as used only after it succeeded', async () => {
    const store = make()
    const { times, work } = counted()
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(store.once('order', expiry, failing)).rejects.toThrow('not now')
    }
    expect(await store.once('order', expiry, work)).toBe(true)
    expect(await store.once('order', expiry, work)).toBe(false)
    expect(times()).toBe(1)
  })

  test('runs again for another store', async () => {
    const { times, work } = counted()
    expect(await make().once('order', expiry, work)).toBe(true)
    expect(await make().once('order', expiry, work)).toBe(true)
    expect(times()).toBe(2)
  })
})

test('expired names are removed from the process', async () => {
  const store = storeWithoutNames()
  const { work } = counted()
  const start = clock.now
  await store.once('order', expiry, work)
  clock.now = start + 99
  expect(await store.once('order', expiry, work)).toBe(false)
  clock.now = start + 100
  expect(await store.once('order', expiry, work)).toBe(true)
  clock.now = start
})

describe('processes that share a store', () => {
  test('run an operation once, in whichever process it arrives', async () => {
    const names = new Set<string>()
    const { times, work } = counted()
    expect(await storeOver(names).once('order', expiry, work)).toBe(true)
    for (let again = 0; again < 5; again++) {
      expect(await storeOver(names).once('order', expiry, work)).toBe(false)
    }
    expect(times()).toBe(1)
  })

  test('run an operation that other processes started and never finished', async () => {
    const names = new Set<string>()
    const died = (): Promise<void> => new Promise(() => {})
    void storeOver(names).once('order', expiry, died)
    void storeOver(names).once('order', expiry, died)
    const { work } = counted()
    expect(await storeOver(names).once('order', expiry, work)).toBe(true)
    expect(await storeOver(names).once('order', expiry, work)).toBe(false)
  })

  test('repeat an operation whose completion the store failed to record', async () => {
    const names = new Set<string>()
    let left = 1
    const flaky = storeOver(names, async () => {
      if (left-- <= 0) throw new Error('not now')
      return true
    })
    const { times, work } = counted()
    await expect(flaky.once('order', expiry, work)).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
    expect(await storeOver(names).once('order', expiry, work)).toBe(true)
    expect(await storeOver(names).once('order', expiry, work)).toBe(false)
    expect(times()).toBe(2)
  })
})

describe('a store that remembers no ends, so that the process does', () => {
  const iss = 'https://idp.example.com'
  const ending = (): CompleteStore =>
    new CompleteStore(engine.config, { ...plain(), deleteByLogoutToken: async () => {} })

  test('[Q4] logout tokens that arrive in another order end what the newest of them ends', async () => {
    const store = ending()
    await store.deleteByLogoutToken({ iss, sub: 'alice', iat: 1000 })
    await store.deleteByLogoutToken({ iss, sub: 'alice', iat: 900 })
    expect(await store.endedAt({ iss, sid: 'sid', sub: 'alice' })).toBe(1000)
    // An ID token may have been issued between two seconds.
    const since = [1000, 1000.9, 1001].map((time) => store.hasEndedSince(time, { iss, sub: 'alice' }))
    expect(await Promise.all(since)).toEqual([true, true, false])
  })

  test('[Q4] an end is remembered for 600 s, for its own store', async () => {
    const [store, start] = [ending(), clock.now]
    await store.deleteByLogoutToken({ iss, sid: 'sid', iat: 1000 })
    clock.now = start + 599
    expect(await store.endedAt({ iss, sid: 'sid', sub: 'alice' })).toBe(1000)
    clock.now = start + 600
    expect(await store.endedAt({ iss, sid: 'sid', sub: 'alice' })).toBeNull()
    clock.now = start
    expect(await ending().endedAt({ iss, sid: 'sid', sub: 'alice' })).toBeNull()
  })
})

class ClientClosedError extends Error {}
class ClientOfflineError extends Error {}

async function failureOf(cause: unknown): Promise<SessionStoreError> {
  const store = new CompleteStore(engine.config, { ...plain(), get: () => Promise.reject(cause) })
  const error: unknown = await store.get('id').catch((thrown: unknown) => thrown)
  if (!(error instanceof SessionStoreError)) throw new TypeError('expected a SessionStoreError')
  expect(error).toMatchObject({ code: 'SESSION_STORE_FAILED', operation: 'get', cause })
  return error
}

test.each([
  [
    Object.assign(new Error('connect 127.0.0.1:6379'), { code: 'ECONNREFUSED' }),
    'ECONNREFUSED',
    'SESSION_STORE_UNREACHABLE',
  ],
  [
    Object.assign(new Error('relation "sessions" does not exist'), { code: '42P01' }),
    '42P01',
    'SESSION_STORE_NOT_SET_UP',
  ],
  [new ClientClosedError('The client is closed'), 'ClientClosedError', 'SESSION_STORE_NOT_CONNECTED'],
  [new ClientOfflineError('The client is offline'), 'ClientOfflineError', 'SESSION_STORE_UNREACHABLE'],
  [
    Object.assign(new ClientClosedError('closed'), { code: 7 }),
    'ClientClosedError',
    'SESSION_STORE_NOT_CONNECTED',
  ],
  [Object.assign(new Error('no'), { code: 'ERR_ODD' }), 'ERR_ODD', 'SESSION_STORE_FAILED'],
])(
  'a failure of the store has the name that its driver gives it, and a remedy: %s',
  async (cause, reason, remedy) => {
    const error = await failureOf(cause)
    expect(error).toMatchObject({ reason, remedy })
    expect(describeError(error)).toBe(
      `The session store could not be read or written. Operation: get, ${reason}.`,
    )
  },
)

test.each([
  ['without a name', new Error('somebody@example.test')],
  ['with an address for a code', Object.assign(new Error('no'), { code: 'somebody@example.test' })],
  ['with the id of a session for a code', Object.assign(new Error('no'), { code: 'x'.repeat(43) })],
  ['that is not an error', 'somebody@example.test'],
  ['that is nothing', undefined],
])('a failure %s has no reason', async (_title, cause) => {
  const error = await failureOf(cause)
  expect(error).toMatchObject({ reason: undefined, remedy: 'SESSION_STORE_FAILED' })
  expect(error.message).not.toContain('somebody')
})

test.each([
  'Command timed out',
  'Connection is closed.',
  "Cluster isn't ready and enableOfflineQueue options is false",
  "Stream isn't writeable and enableOfflineQueue options is false",
])('a failure of ioredis without a name has a remedy: %s', async (message) => {
  const unreachable = { reason: undefined, remedy: 'SESSION_STORE_UNREACHABLE' }
  expect(await failureOf(new Error(message))).toMatchObject(unreachable)
})

test('what a store lacks is done by the process, or rejected with the name of the function', async () => {
  const store = new CompleteStore(engine.config, plain())
  expect(await store.acquireLock('id')).toBeUndefined()
  expect(store.supports('deleteByLogoutToken')).toBe(false)
  const lacking = {
    deleteByLogoutToken: () => store.deleteByLogoutToken({ sid: 'sid', iat: 1000 }),
    listBySubject: () => store.listBySubject('alice'),
    deleteBySubject: () => store.deleteBySubject('alice'),
  }
  for (const [name, call] of Object.entries(lacking)) {
    await expect(call()).rejects.toMatchObject({
      code: 'SESSION_STORE_UNSUPPORTED',
      message: expect.stringContaining(`The store has no ${name}.`),
    })
  }
})
