import { afterEach, expect, test, vi } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import type { IdpClientOptions, SessionDataStore } from '../../config/options.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { SessionData } from '../model/session-data.ts'
import { isSessionData } from '../model/stored-session.ts'
import { createGuardedStore } from './guarded-store.ts'

afterEach(() => {
  vi.useRealTimers()
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined
})

function guarded(
  members: Partial<SessionDataStore>,
  options: IdpClientOptions = {},
): ReturnType<typeof createGuardedStore> {
  const { config } = engineFor(options).engine
  return createGuardedStore(
    config,
    { ...memoryStore({ name: crypto.randomUUID() }), ...members },
    isSessionData,
  )
}

test('waits for a session lock that is never released until the lock would expire, also with a slow store', async () => {
  vi.useFakeTimers()
  const asked: number[] = []
  const store = guarded({
    lock: async (_id, milliseconds) => {
      asked.push(milliseconds)
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return null
    },
  })
  const outcome = expect(store.lock?.('id')).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
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
    await guarded({ lock }, options).lock?.('id')
  }
  expect(asked).toEqual([15_000, 15_000, 60_000, 25_000])
})

const session: SessionData = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'token', expiresAt: 0 },
  internal: { createdAt: 0 },
}
const later = { expiresAt: 4_000_000_000 }

test('a hundred updates of one session at once are serialized, so that the store never has to repeat one', async () => {
  const inner = memoryStore({ name: crypto.randomUUID() })
  await inner.set('id', { ...session, count: 0 }, later)
  let made = 0
  const store = guarded({
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
  await Promise.all(Array.from({ length: 100 }, () => store.update('id', increase, later)))
  expect((await inner.get('id'))?.['count']).toBe(100)
  expect(made).toBe(100)
})

test('an update that never completes delays the next one for a limited time', async () => {
  vi.useFakeTimers()
  const inner = memoryStore({ name: crypto.randomUUID() })
  await inner.set('id', session, later)
  let isFirst = true
  const store = guarded({
    update: (...given) => {
      if (!isFirst) return inner.update(...given)
      isFirst = false
      return new Promise(() => {})
    },
  })
  store.update('id', (current) => current, later).catch(() => {})
  const next = store.update('id', (current) => ({ ...current, theme: 'dark' }), later)
  await vi.runAllTimersAsync()
  expect(await next).toMatchObject({ theme: 'dark' })
})

test('a change that the store never completes delays later ones of the record for httpTimeout, also without update', async () => {
  vi.useFakeTimers()
  const never = new Promise<void>(() => {})
  let isHanging = true
  const records = new Map([['id', session]])
  const store = guarded(
    {
      update: undefined as never,
      get: async (id) => records.get(id) ?? null,
      set: async (id, changed) => (isHanging ? never : void records.set(id, changed)),
    },
    { httpTimeout: 700 },
  )
  const change = (current: SessionData): SessionData => ({ ...current, changed: true })
  void store.update('id', change, { expiresAt: 1 })
  await vi.advanceTimersByTimeAsync(1)
  isHanging = false
  const second = store.update('id', change, { expiresAt: 1 })
  await vi.advanceTimersByTimeAsync(700)
  expect(await second).toMatchObject({ changed: true })
  await store.delete('id')
})

test('a record comes with its JSON from the get of this package, not from one that replaces or wraps it', async () => {
  const store = memoryStore({ name: crypto.randomUUID() })
  const session = { user: { sub: 'a' }, tokenSet: {}, internal: { createdAt: 1 } } as unknown as SessionData
  await store.set('id', session, { expiresAt: 99_999_999_999 })
  const other = { ...session, user: { sub: 'other' } }
  const json = JSON.stringify(session)
  expect(await guarded(store).get('id')).toEqual({ value: session, json })
  expect(await guarded(store).get('unknown')).toBeNull()
  expect(await guarded({ get: store.get.bind(store) }).get('id')).toEqual({ value: session })
  expect(await guarded({ get: async () => other }).get('id')).toEqual({ value: other })
  const spy = vi.fn(store.get)
  expect(await guarded({ get: spy }).get('id')).toEqual({ value: session })
  expect(spy).toHaveBeenCalledTimes(1)
})
