import { afterEach, expect, test, vi } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { SessionDataStore } from '../config/options.ts'
import { memoryStore } from '../stores/memory.ts'
import { guardedStore } from './guarded-store.ts'
import { isSessionData } from './stored-session.ts'

afterEach(() => vi.useRealTimers())

function guarded(members: Partial<SessionDataStore>, httpTimeout = 5000): ReturnType<typeof guardedStore> {
  const { config } = engineFor({ httpTimeout }).engine
  return guardedStore(config, { ...memoryStore({ name: crypto.randomUUID() }), ...members }, isSessionData)
}

test('a lease that never gets free is waited for as long as it can last, however slow the store is', async () => {
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
  // Two requests to the provider, two spells of insistence, and a second.
  expect(new Set(asked)).toEqual(new Set([15_000]))
  expect(asked).toHaveLength(8)
})
