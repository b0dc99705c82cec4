import { describe, expect, test } from 'vitest'
import type { SessionDataStore } from '../../config/options.ts'
import { processOnce } from './process-once.ts'

const order = { name: 'order', expiresAt: 1100, now: 1000, patience: 60_000 }
const failing = (): Promise<void> => Promise.reject(new Error('not now'))

/** Stores that a process has of its own, over names that all of them share. */
function storeOver(names?: Set<string>): SessionDataStore {
  const store = { get: async () => null, set: async () => {}, delete: async () => {} }
  if (!names) return store
  return {
    ...store,
    async once(name) {
      if (names.has(name)) return false
      names.add(name)
      return true
    },
  }
}

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
  ['a store that remembers none', () => storeOver()],
])('an operation with the name %s', (_title, make) => {
  test('runs once', async () => {
    const store = make()
    const { times, work } = counted()
    expect(await processOnce(store, order, work)).toBe(true)
    expect(await processOnce(store, order, work)).toBe(false)
    expect(await processOnce(store, { ...order, name: 'other' }, work)).toBe(true)
    expect(times()).toBe(2)
  })

  test('shares its result with concurrent callers', async () => {
    const store = make()
    const { times, work } = counted()
    const together = Array.from({ length: 5 }, () => processOnce(store, order, work))
    expect([await Promise.all(together), times()]).toEqual([[true, true, true, true, true], 1])
    const others = Array.from({ length: 3 }, () => processOnce(store, { ...order, name: 'x' }, failing))
    const outcomes = await Promise.allSettled(others)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  test('counts as used only after it succeeded', async () => {
    const store = make()
    const { times, work } = counted()
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(processOnce(store, order, failing)).rejects.toThrow('not now')
    }
    expect(await processOnce(store, order, work)).toBe(true)
    expect(await processOnce(store, order, work)).toBe(false)
    expect(times()).toBe(1)
  })

  test('runs again for another store', async () => {
    const { times, work } = counted()
    expect(await processOnce(make(), order, work)).toBe(true)
    expect(await processOnce(make(), order, work)).toBe(true)
    expect(times()).toBe(2)
  })
})

test('expired names are removed from the process', async () => {
  const store = storeOver()
  const { work } = counted()
  await processOnce(store, order, work)
  expect(await processOnce(store, { ...order, now: 1099 }, work)).toBe(false)
  expect(await processOnce(store, { ...order, now: 1100 }, work)).toBe(true)
})

describe('processes that share a store', () => {
  test('run an operation once, in whichever process it arrives', async () => {
    const names = new Set<string>()
    const { times, work } = counted()
    expect(await processOnce(storeOver(names), order, work)).toBe(true)
    for (let again = 0; again < 5; again++) {
      expect(await processOnce(storeOver(names), order, work)).toBe(false)
    }
    expect(times()).toBe(1)
  })

  test('run an operation that other processes started and never finished', async () => {
    const names = new Set<string>()
    const died = (): Promise<void> => new Promise(() => {})
    void processOnce(storeOver(names), order, died)
    void processOnce(storeOver(names), order, died)
    const { work } = counted()
    expect(await processOnce(storeOver(names), order, work)).toBe(true)
    expect(await processOnce(storeOver(names), order, work)).toBe(false)
  })

  test('repeat an operation whose completion the store failed to record', async () => {
    const names = new Set<string>()
    let left = 1
    const flaky = storeOver(names)
    const { once } = flaky
    flaky.once = async (...given) => {
      if (left-- <= 0) throw new Error('not now')
      return (await once?.(...given)) ?? false
    }
    const { times, work } = counted()
    await expect(processOnce(flaky, order, work)).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
    expect(await processOnce(storeOver(names), order, work)).toBe(true)
    expect(await processOnce(storeOver(names), order, work)).toBe(false)
    expect(times()).toBe(2)
  })
})
