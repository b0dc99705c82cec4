import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { randomToken } from '../crypto/random.ts'
import { OAuthError } from '../errors/provider.ts'
import { freshlyStored } from '../session/model/session.ts'
import type { ConnectionTokenParts } from './connection-token.ts'
import { getFreshConnectionToken } from './connection-token.ts'
import { markDead } from './refresh/ended.ts'
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

/** A browser with a session in cookies, whose token of a connection has expired. */
async function withConnection() {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: randomToken() }
  const connectionTokenSets = [{ connection: 'google', accessToken: 'old', expiresAt: clock.now }]
  const data = { user: { sub: 'alice' }, tokenSet, connectionTokenSets, internal: { createdAt: clock.now } }
  const exchange = cookies.exchange()
  await engine.sessions.save(exchange, freshlyStored(data, clock.now))
  cookies.take(exchange)
  const load = async () =>
    (await engine.sessions.load(cookies.exchange())) ?? expect.fail('there is a session')
  const ask = async (exchangeToken: ConnectionTokenParts['exchangeToken']) => {
    const own = cookies.exchange()
    const session = (await engine.sessions.load(own)) ?? expect.fail('there is a session')
    const parts = { ...engine, exchangeToken }
    try {
      return await getFreshConnectionToken(parts, own, session, { connection: 'google' })
    } finally {
      cookies.take(own)
    }
  }
  return { ask, clock, engine, load }
}

test('a refresh token that the exchange rotates replaces the one of the session', async () => {
  const { ask, clock, load } = await withConnection()
  const granted = { accessToken: 'new', tokenType: 'Bearer', expiresAt: clock.now + 60 }
  await ask(async () => ({ ...granted, refreshToken: 'next' }))
  const { tokenSet, connectionTokenSets } = (await load()).data
  expect(tokenSet).toMatchObject({ accessToken: 'at', refreshToken: 'next' })
  expect(connectionTokenSets).toMatchObject([{ accessToken: 'new' }])
})

test('a session in cookies whose refresh token the exchange refuses is not changed: another process may have redeemed it', async () => {
  const { ask, load } = await withConnection()
  const before = await load()
  const error = await ask(async () => {
    throw new OAuthError('OAUTH_ERROR', { error: 'invalid_grant', providerStatus: 400 })
  }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN' })
  expect((await load()).data).toEqual(before.data)
})

test('a token of a connection that has expired is removed if the provider refuses another one: it may be disconnected', async () => {
  const { ask, load } = await withConnection()
  const before = await load()
  const error = await ask(async () => {
    throw new OAuthError('OAUTH_ERROR', { error: 'access_denied', providerStatus: 403 })
  }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN' })
  const { connectionTokenSets: _removed, ...rest } = before.data
  expect((await load()).data).toEqual(rest)
})

test('a refresh token that the provider has rejected at a refresh is not sent again', async () => {
  const { ask, engine, load } = await withConnection()
  await markDead(engine, `${(await load()).data.tokenSet.refreshToken}`)
  const asking = ask(() => Promise.reject(new Error('a request')))
  await expect(asking).rejects.toMatchObject({ code: 'MISSING_REFRESH_TOKEN' })
})

test('without a refresh token, a session has its valid tokens of connections, and no others', async () => {
  const { clock, engine } = engineFor()
  const google = { connection: 'google', accessToken: 'theirs', expiresAt: clock.now + 60 }
  const data = {
    user: { sub: 'alice' },
    tokenSet: { accessToken: 'at', expiresAt: clock.now + 60 },
    connectionTokenSets: [google],
    internal: { createdAt: clock.now },
  }
  const parts = { ...engine, exchangeToken: () => Promise.reject(new Error('a request')) }
  const get = (connection: string) =>
    getFreshConnectionToken(parts, new Cookies().exchange(), freshlyStored(data, clock.now), { connection })
  expect(await get('google')).toEqual(google)
  await expect(get('github')).rejects.toMatchObject({ code: 'MISSING_REFRESH_TOKEN' })
})
