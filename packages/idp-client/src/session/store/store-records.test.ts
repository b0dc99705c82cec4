import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { gate } from '../../../test/support/redemptions.ts'
import type { IdpClientOptions, SessionDataStore } from '../../config/options.ts'
import { memoryStore } from '../../stores/memory.ts'
import { freshlyStored } from '../model/session.ts'
import type { StoredSession } from '../model/stored-session.ts'

/**
 * Signs in a user with sessions in a store, whose updates fail with `isDown`, and whose responses to `get` wait for `afterGet`.
 * `ends`: when the records of the updates expire.
 */
async function signIn(members: Partial<SessionDataStore> = {}, options: IdpClientOptions = {}) {
  const store = memoryStore({ name: crypto.randomUUID() })
  const state: { isDown: boolean; afterGet?: () => Promise<void> } = { isDown: false }
  const ends: number[] = []
  const update: SessionDataStore['update'] = (id, change, expiry) => {
    ends.push(expiry.expiresAt)
    return state.isDown ? Promise.reject(new Error('the store is down')) : store.update(id, change, expiry)
  }
  const get: SessionDataStore['get'] = async (id) => {
    const record = await store.get(id)
    await state.afterGet?.()
    return record
  }
  const { clock, engine } = engineFor({ sessionStore: { ...store, get, update, ...members }, ...options })
  clock.now = Math.floor(Date.now() / 1000)
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: 'rt-0' }
  const internal = { createdAt: clock.now, sid: 'sid-0' }
  const first = freshlyStored({ user: { sub: 'alice' }, tokenSet, internal }, clock.now)
  await engine.sessions.save(new Cookies().exchange(), first)
  const records = (await engine.sessions.distributed?.()) ?? expect.fail('the sessions are in a store')
  return { clock, ends, engine, first, records, state }
}

test('tokens that the store rejects while it takes earlier ones are kept, and written later', async () => {
  const { open, opened } = gate()
  const asked = gate()
  // A change waits that long for one that does not end.
  const { first, records, state } = await signIn(
    {
      async endedAt() {
        asked.open()
        await opened
        return null
      },
    },
    { httpTimeout: 10 },
  )
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
  state.isDown = true
  expect(await records.persist(first, second)).toMatchObject({ isWritten: false })
  state.isDown = false
  const flushed = records.flush(first.sessionKey)
  await asked.opened
  state.isDown = true
  expect(await records.persist(second, third)).toMatchObject({ isWritten: false })
  state.isDown = false
  open()
  expect(await flushed).toBeUndefined()
  const later = await records.flush(first.sessionKey)
  expect(later?.session?.data).toMatchObject({
    tokenSet: { refreshToken: 'rt-2' },
    internal: { sid: 'sid-2' },
  })
})

/** The session with another access token. */
const withToken = ({ data, ...session }: StoredSession, accessToken: string): StoredSession => ({
  ...session,
  data: { ...data, tokenSet: { ...data.tokenSet, accessToken } },
})

test('tokens that the store rejected undo no later refresh, which is written at the same time', async () => {
  const { first, records, state } = await signIn()
  // Without rotation every session has the same refresh token.
  const [second, third] = [withToken(first, 'second'), withToken(first, 'third')]
  state.isDown = true
  expect(await records.persist(first, second)).toMatchObject({ isWritten: false })
  state.isDown = false
  await Promise.all([records.persist(second, third), records.flush(first.sessionKey)])
  expect((await records.read(first.sessionKey))?.data.tokenSet.accessToken).toBe('third')
})

test('a read during which tokens that the store rejected are written returns them, not those before', async () => {
  const { first, records, state } = await signIn()
  const { data } = first
  const tokenSet = { ...data.tokenSet, refreshToken: 'rt-1' }
  state.isDown = true
  await records.persist(first, { ...first, data: { ...data, tokenSet } })
  state.isDown = false
  const [found, written] = [gate(), gate()]
  state.afterGet = () => {
    found.open()
    return written.opened
  }
  const reading = records.read(first.sessionKey)
  await found.opened
  await records.flush(first.sessionKey)
  written.open()
  expect((await reading)?.data.tokenSet.refreshToken).toBe('rt-1')
})

test('a write does not shorten the life of a record that was used since', async () => {
  const { clock, ends, first, records, state } = await signIn()
  state.isDown = true
  expect(await records.persist(first, withToken(first, 'second'))).toMatchObject({ isWritten: false })
  state.isDown = false
  clock.now += 400
  await records.flush(first.sessionKey)
  expect(ends.at(-1)).toBe(clock.now + 86_400)
})

test('an end of the session that a refresh names is compared with the ID token by one clock', async () => {
  const issuedAt = Math.floor(Date.now() / 1000)
  const claims = Buffer.from(JSON.stringify({ sub: 'alice', iat: issuedAt + 30 })).toString('base64url')
  for (const [endedAt, isEnded] of [
    [issuedAt, true],
    [issuedAt - 1, false],
  ] as const) {
    const members = { endedAt: async () => endedAt }
    const { first, records } = await signIn(members, { dpopOptions: { clockSkew: 30 } })
    const { data } = first
    const internal = { ...data.internal, sid: 'sid-1' }
    const tokenSet = { ...data.tokenSet, idToken: `header.${claims}.signature` }
    const written = records.persist(first, { ...first, data: { ...data, internal, tokenSet } })
    if (isEnded) await expect(written).rejects.toMatchObject({ code: 'MISSING_SESSION' })
    else expect(await written).toMatchObject({ isWritten: true })
  }
})

test('a login stores at most 100 further tokens, also if a hook adds more', async () => {
  const { clock, engine, first, records } = await signIn()
  const accessTokens = Array.from({ length: 101 }, (_, at) => ({
    accessToken: `token ${at}`,
    audience: `api ${at}`,
    expiresAt: clock.now + 3600,
  }))
  const next = freshlyStored({ ...first.data, accessTokens }, clock.now)
  await engine.sessions.save(new Cookies().exchange(), next)
  expect((await records.read(next.sessionKey))?.data.accessTokens).toHaveLength(100)
})
