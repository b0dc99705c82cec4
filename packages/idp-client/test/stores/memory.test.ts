import { describe, expect, test, vi } from 'vitest'
import type { SessionData } from '../../src/session/model/session-data.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { fakeClock, storeContract } from '../../src/testing/index.ts'

const session = (sub: string): SessionData => ({
  user: { sub },
  tokenSet: { accessToken: 'token', expiresAt: 4_102_444_800 },
  internal: { createdAt: 1_735_689_600 },
})

describe('[S016,S017,S018,S019] the store contract', () => {
  test.each(storeContract(memoryStore({ name: 'contract' })))('$title', ({ run }) => run())
})

describe('memoryStore', () => {
  test('stores of one name are one store, also in two copies of the module; others are separate', async () => {
    const expiry = { expiresAt: 4_102_444_800 }
    await memoryStore({ name: 'one' }).set('id', session('alice'), expiry)
    expect(await memoryStore({ name: 'one' }).get('id')).toEqual(session('alice'))
    expect(await memoryStore().get('id')).toBeNull()
    vi.resetModules()
    const copy = await import('../../src/stores/memory.ts')
    expect(copy.memoryStore).not.toBe(memoryStore)
    expect(await copy.memoryStore({ name: 'one' }).get('id')).toEqual(session('alice'))
    expect(await copy.memoryStore({ name: 'two' }).get('id')).toBeNull()
  })

  test('no other name makes it forget a used one before its time: above the limit it fails', async () => {
    const clock = fakeClock(1000)
    const { once } = memoryStore({ name: 'names', clock })
    const expiry = { expiresAt: 1060 }
    const takeAll = async (): Promise<void> => {
      for (let index = 0; index < 100_000; index++) await once(`name ${index}`, expiry)
    }
    expect(await once('first', expiry)).toBe(true)
    await expect(takeAll()).rejects.toThrow('too many names')
    expect(await once('first', expiry)).toBe(false)
    clock.set(1060)
    expect(await once('another', { expiresAt: 2000 })).toBe(true)
  })

  test('uses the given clock', async () => {
    const clock = fakeClock(1000)
    const store = memoryStore({ name: 'clock', clock })
    await store.set('id', session('alice'), { expiresAt: 1010 })
    await store.once('name', { expiresAt: 1010 })
    clock.set(1009)
    expect([(await store.get('id'))?.user.sub, await store.once('name', { expiresAt: 1010 })]).toEqual([
      'alice',
      false,
    ])
    clock.set(1010)
    expect(await store.listBySubject('alice')).toEqual([])
    expect(await store.update('id', (current) => current, { expiresAt: 2000 })).toBeNull()
    expect([await store.get('id'), await store.once('name', { expiresAt: 2000 })]).toEqual([null, true])
  })

  test('removes the least recently used session when it is full, and an ended session makes room', async () => {
    const store = memoryStore({ name: 'bounded', maxSessions: 2 })
    const expiry = { expiresAt: 4_102_444_800 }
    await store.set('a', session('alice'), expiry)
    await store.set('b', session('bob'), expiry)
    await store.get('a')
    await store.set('c', session('carol'), expiry)
    const left = async (): Promise<(string | undefined)[]> =>
      Promise.all(['a', 'b', 'c'].map(async (id) => (await store.get(id))?.user.sub))
    expect(await left()).toEqual(['alice', undefined, 'carol'])
    expect([await store.listBySubject('bob'), await store.deleteBySubject('alice')]).toEqual([[], 1])
    await store.set('b', session('bob'), expiry)
    expect(await left()).toEqual([undefined, 'bob', 'carol'])
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'rejects a maximum of %s sessions',
    (maxSessions) => {
      expect(() => memoryStore({ name: 'refused', maxSessions })).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
      )
    },
  )
})
