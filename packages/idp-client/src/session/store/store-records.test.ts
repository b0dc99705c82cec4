import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { gate } from '../../../test/support/redemptions.ts'
import type { SessionDataStore } from '../../config/options.ts'
import { memoryStore } from '../../stores/memory.ts'
import { freshlyStored } from '../model/session.ts'
import type { StoredSession } from '../model/stored-session.ts'

test('tokens that the store rejects while it takes earlier ones are kept, and written later', async () => {
  const { open, opened } = gate()
  const asked = gate()
  let isDown = false
  const store = memoryStore({ name: crypto.randomUUID() })
  const update: SessionDataStore['update'] = (...given) =>
    isDown ? Promise.reject(new Error('the store is down')) : store.update(...given)
  const sessionStore: SessionDataStore = {
    ...store,
    update,
    async endedAt() {
      asked.open()
      await opened
      return null
    },
  }
  const { clock, engine } = engineFor({ sessionStore })
  clock.now = Math.floor(Date.now() / 1000)
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: 'rt-0' }
  const internal = { createdAt: clock.now, sid: 'sid-0' }
  const first = freshlyStored({ user: { sub: 'alice' }, tokenSet, internal }, clock.now)
  await engine.sessions.save(new Cookies().exchange(), first)
  const records = (await engine.sessions.distributed?.()) ?? expect.fail('the sessions are in a store')
  /** The session with the tokens of a refresh, which also brings another `sid`. */
  const refreshed = ({ data, ...session }: StoredSession, serial: number): StoredSession => ({
    ...session,
    data: {
      ...data,
      tokenSet: { ...data.tokenSet, refreshToken: `rt-${serial}` },
      internal: { ...data.internal, sid: `sid-${serial}` },
    },
  })
  const second = refreshed(first, 1)
  const third = refreshed(second, 2)
  isDown = true
  expect(await records.persist(first, second)).toMatchObject({ isWritten: false })
  isDown = false
  const flushed = records.flush(first.sessionKey)
  await asked.opened
  isDown = true
  expect(await records.persist(second, third)).toMatchObject({ isWritten: false })
  isDown = false
  open()
  expect(await flushed).toBeUndefined()
  const later = await records.flush(first.sessionKey)
  expect(later?.session?.data).toMatchObject({
    tokenSet: { refreshToken: 'rt-2' },
    internal: { sid: 'sid-2' },
  })
})
