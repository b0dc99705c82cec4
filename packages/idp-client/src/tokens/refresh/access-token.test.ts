import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { gate } from '../../../test/support/redemptions.ts'
import type { SessionDataStore } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import { OAuthError } from '../../errors/provider.ts'
import { pause } from '../../lib/pause.ts'
import { freshlyStored } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { memoryStore } from '../../stores/memory.ts'
import { toTokenRequest } from '../token-request.ts'
import { getFreshToken } from './access-token.ts'
import { markDead } from './ended.ts'
import { keepMainToken } from './process-tokens.ts'

/**
 * Two processes on one store that cannot lock. This one sends the refresh token `rt-1`, which the other one redeems
 * meanwhile: the session then has `rt-2` and an access token that expires after `lifetime` seconds.
 */
async function overtaken(lifetime: number) {
  const { get, set, delete: remove, update } = memoryStore({ name: randomToken() })
  const sessionStore: SessionDataStore = { get, set, delete: remove, update }
  const { clock, engine } = engineFor({ sessionStore })
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at-1', expiresAt: clock.now, refreshToken: 'rt-1' }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const exchange = cookies.exchange()
  const session = freshlyStored(data, clock.now)
  await engine.sessions.save(exchange, session)
  cookies.take(exchange)
  const sent: string[] = []
  const sendRefresh = async ({ refreshToken }: { refreshToken: string }) => {
    sent.push(refreshToken)
    if (refreshToken === 'rt-1') {
      const theirs = { accessToken: 'at-2', expiresAt: clock.now + lifetime, refreshToken: 'rt-2' }
      const other = cookies.exchange()
      const loaded = await engine.sessions.load(other)
      if (!loaded) throw new Error('no session')
      await engine.sessions.save(other, { ...loaded, data: { ...loaded.data, tokenSet: theirs } })
      throw new OAuthError('OAUTH_ERROR', { error: 'invalid_grant' })
    }
    return { accessToken: 'at-3', refreshToken: 'rt-3', tokenType: 'Bearer', expiresAt: clock.now + 60 }
  }
  const ask = async (force: boolean): Promise<string> => {
    const { clientTag, config, sealer, sessions } = engine
    const on = cookies.exchange()
    const loaded = await sessions.load(on)
    if (!loaded) throw new Error('no session')
    const want = { ...toTokenRequest(config.authorization, {}), force }
    return (await getFreshToken({ clientTag, config, sealer, sessions, sendRefresh }, on, loaded, want))
      .accessToken
  }
  const stored = async () => (await engine.sessions.load(cookies.exchange()))?.data.tokenSet
  return { ask, sent, stored }
}

test('[Q3] if another process has redeemed the token first, and its access token is valid, nothing is redeemed again', async () => {
  const { ask, sent, stored } = await overtaken(60)
  expect(await ask(true)).toBe('at-2')
  expect(sent).toEqual(['rt-1'])
  expect(await stored()).toMatchObject({ accessToken: 'at-2', refreshToken: 'rt-2' })
})

test('[Q3] if the access token of the other process has expired, its refresh token is redeemed', async () => {
  const { ask, sent, stored } = await overtaken(-1)
  expect(await ask(false)).toBe('at-3')
  expect(sent).toEqual(['rt-1', 'rt-2'])
  expect(await stored()).toMatchObject({ accessToken: 'at-3', refreshToken: 'rt-3' })
})

test('a forced refresh gets the token of another call, although the cookies have no room for it', async () => {
  const { clock, engine } = engineFor()
  const { clientTag, config, sealer } = engine
  const { scope: requestedScope } = toTokenRequest(config.authorization, {})
  const tokenSet = { accessToken: '', expiresAt: clock.now, refreshToken: 'rt-1', requestedScope }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  // As the storage does with a main access token that does not fit.
  const save = async (_exchange: unknown, saved: typeof session): Promise<boolean> => {
    keepMainToken(config, saved)
    return true
  }
  const sendRefresh = async () => ({
    accessToken: 'at-2',
    refreshToken: 'rt-2',
    tokenType: 'Bearer',
    expiresAt: clock.now + 60,
  })
  const parts = { clientTag, config, sealer, sessions: { ...engine.sessions, save }, sendRefresh }
  const ask = async (force: boolean): Promise<string> => {
    const want = { ...toTokenRequest(config.authorization, {}), force }
    return (await getFreshToken(parts, new Cookies().exchange(), session, want)).accessToken
  }
  expect(await Promise.all([ask(false), ask(true)])).toEqual(['at-2', 'at-2'])
})

test.each([
  ['before its token is redeemed', true],
  ['while its token is redeemed', false],
])('a session in cookies that ends %s yields no token', async (_title, isBefore) => {
  const { clock, engine } = engineFor()
  const { clientTag, config, sealer, sessions } = engine
  const tokenSet = { accessToken: 'at-1', expiresAt: clock.now, refreshToken: 'rt-1' }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const cookies = new Cookies()
  const exchange = cookies.exchange()
  await sessions.save(exchange, freshlyStored(data, clock.now))
  cookies.take(exchange)
  // A logout in another request.
  const logOut = async (): Promise<void> => sessions.destroy(cookies.exchange())
  let sent = 0
  const sendRefresh = async () => {
    sent++
    await logOut()
    return { accessToken: 'at-2', refreshToken: 'rt-2', tokenType: 'Bearer', expiresAt: clock.now + 60 }
  }
  const on = cookies.exchange()
  const session = (await sessions.load(on)) ?? expect.fail('there is a session')
  if (isBefore) await logOut()
  const asking = getFreshToken(
    { clientTag, config, sealer, sessions, sendRefresh },
    on,
    session,
    toTokenRequest(config.authorization, {}),
  )
  await expect(asking).rejects.toMatchObject({ name: 'AccessTokenError', code: 'MISSING_SESSION' })
  expect(sent).toBe(isBefore ? 0 : 1)
})

test('two forced refreshes that replace different tokens both get a new one', async () => {
  const { clock, engine } = engineFor()
  const { clientTag, config, sealer } = engine
  const { open, opened } = gate()
  const sessions = { ...engine.sessions, save: async () => true }
  let count = 2
  const sendRefresh = async ({ audience }: { audience?: string }) => {
    if (audience !== undefined) await opened
    return { accessToken: `at-${++count}`, tokenType: 'Bearer', expiresAt: clock.now + 60 }
  }
  const parts = { clientTag, config, sealer, sessions, sendRefresh }
  const { scope: requestedScope } = toTokenRequest(config.authorization, {})
  const refreshToken = randomToken()
  const sessionKey = randomToken()
  const at = (accessToken: string, usedAt: number): StoredSession => {
    const tokenSet = { accessToken, expiresAt: clock.now + 60, refreshToken, requestedScope }
    return {
      data: { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } },
      sessionKey,
      usedAt,
    }
  }
  const ask = async (session: StoredSession, options: object): Promise<string> => {
    const want = { ...toTokenRequest(config.authorization, options), force: true }
    return (await getFreshToken(parts, new Cookies().exchange(), session, want)).accessToken
  }
  const [older, newer] = [at('at-1', clock.now - 1), at('at-2', clock.now)]
  const others = ask(newer, { audience: 'https://other.example' })
  await pause(0)
  const asking = [ask(older, {}), ask(newer, {})]
  await pause(0)
  open()
  expect(await others).toBe('at-3')
  expect(await Promise.all(asking)).toEqual(['at-2', 'at-4'])
})

test('a call gets the token of this process that another call has obtained before its redemption', async () => {
  const { clock, engine } = engineFor()
  const { clientTag, config, sealer } = engine
  const sessions = { ...engine.sessions, save: async () => true }
  let sent = 0
  const sendRefresh = async () => {
    sent++
    return { accessToken: `at-${sent}`, tokenType: 'Bearer', expiresAt: clock.now + 60 }
  }
  const parts = { clientTag, config, sealer, sessions, sendRefresh }
  const tokenSet = { accessToken: 'at', expiresAt: clock.now, refreshToken: randomToken() }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  const want = { ...toTokenRequest(config.authorization, { audience: 'a' }), processOnly: true } as const
  const ask = async (given = parts): Promise<string> =>
    (await getFreshToken(given, new Cookies().exchange(), session, want)).accessToken
  // Once the provider has rejected any token, a call awaits the hash of its own.
  await markDead(parts, randomToken())
  const { open, opened } = gate()
  const delayed = ask({ ...parts, clientTag: () => opened.then(clientTag) })
  expect(await ask()).toBe('at-1')
  open()
  expect(await delayed).toBe('at-1')
  expect(sent).toBe(1)
})
