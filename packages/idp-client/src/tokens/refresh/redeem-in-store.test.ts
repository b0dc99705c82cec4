import { afterEach, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { ask, partsFor, purpose, renewed, session } from '../../../test/support/redemptions.ts'
import type { SessionDataStore } from '../../config/options.ts'
import { pause } from '../../lib/pause.ts'
import { freshlyStored } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { DistributedSessions } from '../../session/storage.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { Purpose } from './coordinator.ts'
import { redeemInStore } from './redeem-in-store.ts'
import type { RedemptionResult } from './state.ts'

afterEach(() => vi.useRealTimers())

function redeemed(session: StoredSession): StoredSession {
  const tokenSet = { ...session.data.tokenSet, accessToken: 'second', refreshToken: 'second' }
  return { ...session, data: { ...session.data, tokenSet } }
}

/** A store whose record of one session has the refresh token `first`, and that rejects writes while it is down. */
async function failingStore() {
  const memory = memoryStore({ name: crypto.randomUUID() })
  const state = { isDown: false, expiresAt: 0 }
  const sessionStore: SessionDataStore = {
    ...memory,
    update: async (...given) => {
      if (state.isDown) throw new Error('the store is down')
      state.expiresAt = given[2].expiresAt
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
  const redemption = (): Promise<RedemptionResult> =>
    redeemInStore(store, session, async (current) => ({ session: redeemed(current) }))
  return { clock, id, memory, redemption, state }
}

test('[Q5] tokens that the store rejects are saved while the lock protects them, without another request', async () => {
  vi.useFakeTimers()
  const { clock, id, memory, redemption, state } = await failingStore()
  state.isDown = true
  const redeeming = redemption()
  await vi.advanceTimersByTimeAsync(10_000)
  expect((await redeeming).session.data.tokenSet.refreshToken).toBe('second')
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('first')
  expect(await memory.lock(id, 1)).toBeNull()

  state.isDown = false
  // Another process may have written the record since, with a later end.
  clock.now += 3600
  await vi.advanceTimersByTimeAsync(2000)
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('second')
  expect(state.expiresAt).toBe(clock.now + 86_400)
  expect(await memory.lock(id, 1)).not.toBeNull()
})

test('a request gets the tokens that the store takes while their write is repeated', async () => {
  vi.useFakeTimers()
  const { id, memory, redemption, state } = await failingStore()
  state.isDown = true
  const redeeming = redemption()
  await vi.advanceTimersByTimeAsync(100)
  state.isDown = false
  await vi.advanceTimersByTimeAsync(1000)
  expect((await redeeming).session.data.tokenSet.refreshToken).toBe('second')
  expect((await memory.get(id))?.tokenSet.refreshToken).toBe('second')
  expect(await memory.lock(id, 1)).not.toBeNull()
})

test('a session that ends while the write of its tokens is repeated yields no token', async () => {
  vi.useFakeTimers()
  const { id, memory, redemption, state } = await failingStore()
  state.isDown = true
  const outcome = expect(redemption()).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  await vi.advanceTimersByTimeAsync(100)
  // A logout in another process.
  await memory.delete(id)
  state.isDown = false
  await vi.advanceTimersByTimeAsync(2000)
  await outcome
  expect(await memory.get(id)).toBeNull()
  expect(await memory.lock(id, 1)).not.toBeNull()
})

/** Sessions in a store, whose lock another process holds for that many milliseconds. `httpTimeout` is 1000 ms. */
function behindLock(milliseconds: number) {
  vi.useFakeTimers()
  const one = session()
  const sent: string[] = []
  const lock: DistributedSessions['lock'] = async () => {
    await pause(milliseconds)
    return { until: Number.POSITIVE_INFINITY, release: async () => {} }
  }
  let stored: StoredSession = one
  const persist: DistributedSessions['persist'] = async (_found, changed) => {
    stored = changed
    return { session: changed, isWritten: true }
  }
  const parts = partsFor({ store: { lock, persist, read: async () => stored } })
  const redeem: Purpose['redeem'] = async (latest, token, { onRequest }) => {
    onRequest()
    sent.push(token)
    return renewed(latest, 'next')
  }
  const asking = (): Promise<string> =>
    ask(purpose(one, { redeem }), parts).then(
      ({ session: { data } }) => `${data.tokenSet.refreshToken}`,
      ({ code }) => code,
    )
  return { asking, one, sent }
}

test('a redemption that waits for the lock of another process is not taken over while that may last', async () => {
  const { asking, one, sent } = behindLock(15_000)
  const first = asking()
  await vi.advanceTimersByTimeAsync(1500)
  const joining = asking()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await Promise.all([first, joining])).toEqual(['next', 'REQUEST_TIMEOUT'])
  expect(sent).toEqual([one.refreshToken])
})

test('a redemption that was taken over sends nothing when it continues', async () => {
  const { asking, one, sent } = behindLock(18_000)
  const first = asking()
  await vi.advanceTimersByTimeAsync(16_500)
  const second = asking()
  await vi.advanceTimersByTimeAsync(1500)
  expect(await first).toBe('REQUEST_TIMEOUT')
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(18_000)
  expect(await second).toBe('next')
  expect(sent).toEqual([one.refreshToken])
})

test('redemptions that were lost before they sent anything do not count as lost responses', async () => {
  vi.useFakeTimers()
  const one = session()
  let calls = 0
  const lock: DistributedSessions['lock'] = async () => {
    if (++calls < 3) await new Promise(() => {})
    return { until: Number.POSITIVE_INFINITY, release: async () => {} }
  }
  const redeem: Purpose['redeem'] = async (latest, _token, { onRequest }) => {
    onRequest()
    return renewed(latest, 'next')
  }
  const parts = partsFor({ store: { lock, read: async () => one } })
  const asking = Array.from({ length: 3 }, async (_, at) => {
    await pause(at * 17_500)
    return ask(purpose(one, { redeem }), parts)
  })
  await vi.advanceTimersByTimeAsync(40_000)
  const [, , last] = asking
  expect((await last)?.session.data.tokenSet.refreshToken).toBe('next')
  expect(calls).toBe(3)
})

test('nothing is sent after the lock has expired', async () => {
  const one = session()
  const sent: string[] = []
  const lock: DistributedSessions['lock'] = async () => ({
    until: performance.now(),
    release: async () => {},
  })
  const redeem: Purpose['redeem'] = async (latest, token, { onRequest }) => {
    onRequest()
    sent.push(token)
    return renewed(latest, 'next')
  }
  const parts = partsFor({ store: { lock, read: async () => one } })
  await expect(ask(purpose(one, { redeem }), parts)).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
  expect(sent).toEqual([])
})
