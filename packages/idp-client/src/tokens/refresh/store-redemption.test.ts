import { afterEach, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import type { SessionDataStore } from '../../config/options.ts'
import { freshlyStored } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { memoryStore } from '../../stores/memory.ts'
import { redeemInStore } from './store-redemption.ts'

afterEach(() => {
  vi.useRealTimers()
})

function redeemed(session: StoredSession): StoredSession {
  const tokenSet = { ...session.data.tokenSet, accessToken: 'second', refreshToken: 'second' }
  return { ...session, data: { ...session.data, tokenSet } }
}

test('[Q5] tokens that the store rejects are saved while the lock protects them, without another request', async () => {
  vi.useFakeTimers()
  const memory = memoryStore({ name: crypto.randomUUID() })
  let isDown = false
  const sessionStore: SessionDataStore = {
    ...memory,
    update: async (...given) => {
      if (isDown) throw new Error('the store is down')
      return memory.update(...given)
    },
  }
  const { clock, engine } = engineFor({ sessionStore })
  const tokenSet = { accessToken: 'first', refreshToken: 'first', expiresAt: clock.now }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  await engine.sessions.save(new Cookies().exchange(), session)
  const store = (await engine.sessions.distributed?.()) ?? expect.fail('sessions are in a store')
  const [{ id = '' } = {}] = await memory.listBySubject('alice')

  isDown = true
  const redemption = redeemInStore(store, session, async (current) => ({ session: redeemed(current) }))
  await vi.advanceTimersByTimeAsync(10_000)
  await redemption
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('first')
  expect(await memory.lock(id, 1)).toBeNull()

  isDown = false
  await vi.advanceTimersByTimeAsync(2000)
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('second')
  expect(await memory.lock(id, 1)).not.toBeNull()
})
