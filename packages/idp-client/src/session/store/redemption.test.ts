import { afterEach, expect, test, vi } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import type { SessionDataStore } from '../../config/options.ts'
import { memoryStore } from '../../stores/memory.ts'
import { freshlyStored } from '../model/session.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { CompleteStore } from './complete-store.ts'
import { recordId } from './record.ts'
import { exclusiveRedemption } from './redemption.ts'
import { StoreRecords } from './store-records.ts'

afterEach(() => {
  vi.useRealTimers()
})

function redeemed(session: StoredSession): StoredSession {
  const tokenSet = { ...session.data.tokenSet, accessToken: 'second', refreshToken: 'second' }
  return { ...session, data: { ...session.data, tokenSet } }
}

test('[Q5] tokens that the store rejects are saved while the lock protects them, without another request', async () => {
  vi.useFakeTimers()
  const { config } = engineFor().engine
  const user = { sub: 'alice' }
  const tokenSet = { accessToken: 'first', refreshToken: 'first', expiresAt: 1_800_000_000 }
  const session = freshlyStored({ user, tokenSet, internal: { createdAt: 1_800_000_000 } }, 1_800_000_000)
  const memory = memoryStore({ name: crypto.randomUUID() })
  let isDown = false
  const failing: SessionDataStore = {
    ...memory,
    update: async (...given) => {
      if (isDown) throw new Error('the store is down')
      return memory.update(...given)
    },
  }
  const store = new CompleteStore(config, failing)
  const records = new StoreRecords(config, store)
  await records.create(session)
  const id = await recordId(session.sessionKey)

  isDown = true
  const redemption = exclusiveRedemption({ store, records })(session, async (current) => ({
    session: redeemed(current),
  }))
  await vi.advanceTimersByTimeAsync(10_000)
  await redemption
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('first')
  expect(await memory.lock(id, 1)).toBeNull()

  isDown = false
  await vi.advanceTimersByTimeAsync(2000)
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('second')
  expect(await memory.lock(id, 1)).not.toBeNull()
})
