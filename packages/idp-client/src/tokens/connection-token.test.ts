import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { freshlyStored } from '../session/model/session.ts'
import { getFreshConnectionToken } from './connection-token.ts'
import { findFamily, tokenKey } from './refresh/families.ts'

test('the progress of an exchange is known, so that a refresh waits for it', async () => {
  const { clock, engine } = engineFor()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now, refreshToken: 'rt' }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  const states: unknown[] = []
  const key = await tokenKey(engine, 'rt')
  const look = (): void =>
    void states.push(findFamily(key, session, clock.now)?.turns.map(({ redemption }) => redemption.state))
  const token = await getFreshConnectionToken(
    {
      ...engine,
      async exchangeToken(_session, _refreshToken, { onRequest, onResponse }) {
        look()
        onRequest()
        look()
        onResponse()
        look()
        return { accessToken: 'theirs', tokenType: 'Bearer', expiresAt: clock.now + 60 }
      },
    },
    new Cookies().exchange(),
    session,
    { connection: 'google' },
  )
  expect(token.accessToken).toBe('theirs')
  expect(states).toEqual([['queued'], ['redeeming'], ['responded']])
})

test('a session that ends at the provider during an exchange is gone, and no connection has to be renewed', async () => {
  const { clock, engine } = engineFor()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now, refreshToken: 'rt' }
  const internal = { createdAt: clock.now, sessionExpiresAt: clock.now + 60 }
  const session = freshlyStored({ user: { sub: 'alice' }, tokenSet, internal }, clock.now)
  const parts = {
    ...engine,
    async exchangeToken() {
      clock.now += 61
      return { accessToken: 'theirs', tokenType: 'Bearer', expiresAt: clock.now + 60 }
    },
  }
  await expect(
    getFreshConnectionToken(parts, new Cookies().exchange(), session, { connection: 'google' }),
  ).rejects.toMatchObject({ name: 'AccessTokenForConnectionError', code: 'MISSING_SESSION' })
})
