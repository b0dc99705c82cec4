import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { gate } from '../../../test/support/redemptions.ts'
import { randomToken } from '../../crypto/random.ts'
import { createCookieSessionStorage } from '../../session/cookie/in-cookie.ts'
import { freshlyStored } from '../../session/model/session.ts'
import { toTokenRequest } from '../token-request.ts'
import { verifyInSession } from '../verified.ts'
import { getFreshToken } from './access-token.ts'
import { hasEnded } from './ended.ts'
import {
  advance,
  closeFamily,
  findFamily,
  isPending,
  keepUntilSent,
  markPersisted,
  openFamily,
  tokenKey,
} from './families.ts'
import { endExpired, withPendingRefreshes } from './pending-refreshes.ts'
import { createTurn } from './turn.ts'

async function signedIn() {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const first = `rt-${randomToken()}`
  const tokenSet = { accessToken: 'at-1', expiresAt: clock.now, refreshToken: first }
  const exchange = cookies.exchange()
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  await engine.sessions.save(exchange, freshlyStored(data, clock.now))
  cookies.take(exchange)
  const redeemed: string[] = []
  const sendRefresh = async ({ refreshToken }: { refreshToken: string }) => {
    redeemed.push(refreshToken)
    const tokens = { accessToken: `at-${redeemed.length + 1}`, refreshToken: `${first}+${redeemed.length}` }
    return { ...tokens, tokenType: 'Bearer', expiresAt: clock.now + 60 }
  }
  const { clientTag, config, sealer, sessions } = engine
  const ask = async (on: ReturnType<Cookies['exchange']>) => {
    const session = await sessions.load(on)
    if (!session) throw new Error('no session')
    const parts = { clientTag, config, sealer, sessions, sendRefresh }
    return (await getFreshToken(parts, on, session, toTokenRequest(config.authorization, {}))).accessToken
  }
  return { ask, clock, cookies, engine, redeemed }
}

test('a session that was loaded before a refresh and saved after it does not restore consumed tokens', async () => {
  const { ask, clock, cookies, engine, redeemed } = await signedIn()
  const slow = cookies.exchange()
  const loaded = await engine.sessions.load(slow)
  const quick = cookies.exchange()
  expect(await ask(quick)).toBe('at-2')
  cookies.take(quick)
  if (loaded) await engine.sessions.save(slow, { ...loaded, usedAt: clock.now })
  cookies.take(slow)
  const session = await engine.sessions.load(cookies.exchange())
  expect(session?.data.tokenSet).toMatchObject({
    accessToken: 'at-2',
    refreshToken: expect.stringMatching(/\+1$/),
  })
  expect(await ask(cookies.exchange())).toBe('at-2')
  clock.now += 61
  expect(await ask(cookies.exchange())).toBe('at-3')
  expect(new Set(redeemed).size).toBe(redeemed.length)
})

test('a response that is sent after a later refresh does not make that refresh count as persisted', async () => {
  const { ask, clock, cookies, redeemed } = await signedIn()
  const readOnly = () => ({ ...cookies.exchange(), canWrite: () => false })
  expect(await ask(readOnly())).toBe('at-2')
  clock.now += 61
  const slow = cookies.exchange()
  expect(await ask(slow)).toBe('at-3')
  clock.now += 61
  expect(await ask(readOnly())).toBe('at-4')
  cookies.take(slow)
  for (const accessToken of ['at-5', 'at-6']) {
    clock.now += 61
    expect(await ask(readOnly())).toBe(accessToken)
  }
  const next = cookies.exchange()
  expect(await ask(next)).toBe('at-6')
  cookies.take(next)
  clock.now += 61
  expect(await ask(cookies.exchange())).toBe('at-7')
  expect(new Set(redeemed).size).toBe(6)
})

test('a response with older tokens that is sent last leaves the newer ones pending', async () => {
  const { ask, clock, cookies, redeemed } = await signedIn()
  const slow = cookies.exchange()
  expect(await ask(slow)).toBe('at-2')
  clock.now += 61
  const quick = cookies.exchange()
  expect(await ask(quick)).toBe('at-3')
  cookies.take(quick)
  cookies.take(slow)
  clock.now += 600
  expect(await ask(cookies.exchange())).toBe('at-4')
  expect(new Set(redeemed).size).toBe(3)
})

test('a refresh that completes while a session is saved is kept until a response carries it', async () => {
  const { ask, clock, cookies, engine, redeemed } = await signedIn()
  const { clientTag, config, sealer } = engine
  const storage = createCookieSessionStorage({
    clientTag,
    config,
    sealer,
    baseUrl: () => 'https://app.example.com',
  })
  const save: typeof storage.save = async (...given) => {
    expect(await ask({ ...cookies.exchange(), canWrite: () => false })).toBe('at-2')
    return storage.save(...given)
  }
  const sessions = withPendingRefreshes({ ...storage, save }, { clientTag, config })
  const slow = cookies.exchange()
  const loaded = await sessions.load(slow)
  if (!loaded) throw new Error('no session')
  await sessions.save(slow, { ...loaded, usedAt: clock.now })
  cookies.take(slow)
  expect(await ask(cookies.exchange())).toBe('at-2')
  clock.now += 61
  const next = cookies.exchange()
  expect(await ask(next)).toBe('at-3')
  cookies.take(next)
  clock.now += 61
  expect(await ask(cookies.exchange())).toBe('at-4')
  expect(new Set(redeemed).size).toBe(3)
})

test('a request that was sent before the cookie of a pending session is set gets that session, however old that is', async () => {
  const { ask, clock, cookies, engine, redeemed } = await signedIn()
  expect(await ask({ ...cookies.exchange(), canWrite: () => false })).toBe('at-2')
  clock.now += 300
  const [first, second] = [cookies.exchange(), cookies.exchange()]
  const loaded = (await engine.sessions.load(first)) ?? expect.fail('there is a session')
  await engine.sessions.save(first, { ...loaded, usedAt: clock.now })
  cookies.take(first)
  expect((await engine.sessions.load(second))?.data.tokenSet.accessToken).toBe('at-2')
  expect(await ask(second)).toBe('at-3')
  expect(new Set(redeemed).size).toBe(2)
})

test('[C8] a session that was loaded before a step-up and saved after it keeps the scope that a guard requested, and the user', async () => {
  const { clock, cookies, engine } = await signedIn()
  const slow = cookies.exchange()
  const loaded = await engine.sessions.load(slow)
  if (!loaded) throw new Error('no session')
  const exchange = cookies.exchange()
  const { clientTag, config, sessions } = engine
  const grant = { accessToken: 'at-2', refreshToken: 'rt-2', tokenType: 'Bearer', expiresAt: clock.now + 60 }
  await verifyInSession({ clientTag, config, sessions }, exchange, {
    session: loaded,
    want: toTokenRequest(config.authorization, {}),
    key: 'popup',
    verify: async () => ({
      ...grant,
      ownScope: 'transfer',
      fromLink: true,
      claims: { sub: 'alice', groups: ['staff'] },
      userInfoClaims: ['groups'],
      requestedAcr: 'strong',
    }),
  })
  cookies.take(exchange)
  await engine.sessions.save(slow, { ...loaded, usedAt: clock.now })
  cookies.take(slow)
  const after = await engine.sessions.load(cookies.exchange())
  expect([after?.data.tokenSet.accessToken, after?.ownScope]).toEqual(['at-2', 'transfer'])
  expect(after).toMatchObject({ fromLink: true, userInfoClaims: ['groups'] })
  expect(after?.authentication?.requestedAcr).toBe('strong')
  expect(after?.data.user).toEqual({ sub: 'alice', groups: ['staff'] })
})

test('a user that the application has changed is not replaced by a refresh that completes meanwhile', async () => {
  const { ask, cookies, engine } = await signedIn()
  const slow = cookies.exchange()
  const loaded = (await engine.sessions.load(slow)) ?? expect.fail('there is a session')
  expect(await ask(cookies.exchange())).toBe('at-2')
  const user = { sub: 'alice', nickname: 'al' }
  await engine.sessions.save(slow, { ...loaded, data: { ...loaded.data, user } }, { ownUser: true })
  cookies.take(slow)
  const { data } = (await engine.sessions.load(cookies.exchange())) ?? expect.fail('there is a session')
  expect([data.user, data.tokenSet.accessToken]).toEqual([user, 'at-2'])
})

test('a refresh token that does not rotate: of the access tokens of two processes, a session has the one that was used last', async () => {
  const { clock, cookies, engine } = await signedIn()
  const exchange = cookies.exchange()
  const session = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
  const withToken = (accessToken: string, usedAt: number) => ({
    ...session,
    usedAt,
    data: { ...session.data, tokenSet: { ...session.data.tokenSet, accessToken } },
  })
  const key = await tokenKey(engine, `${session.data.tokenSet.refreshToken}`)
  const family = openFamily(key, session)
  advance(family, withToken('ours', clock.now - 1), [key], clock.now)
  const load = () => engine.sessions.load(cookies.exchange())
  expect((await load())?.data.tokenSet.accessToken).toBe('at-1')
  await engine.sessions.save(exchange, withToken('theirs', clock.now))
  cookies.take(exchange)
  expect((await load())?.data.tokenSet.accessToken).toBe('theirs')
  family.latest = withToken('ours', clock.now + 1)
  expect(await load()).toMatchObject({ usedAt: clock.now + 1, data: { tokenSet: { accessToken: 'ours' } } })
  closeFamily(family)
})

test('no token is redeemed if it cannot be written and too many are pending already', async () => {
  const { ask, cookies, engine, redeemed } = await signedIn()
  const session = await engine.sessions.load(cookies.exchange())
  if (!session) throw new Error('no session')
  const families = Array.from({ length: 1000 }, (_, at) => openFamily(`waiting-${at}`, session))
  for (const family of families) keepUntilSent(engine.config, family, session)
  const readOnly = () => ({ ...cookies.exchange(), canWrite: () => false })
  await expect(ask(readOnly())).rejects.toMatchObject({ code: 'REFRESH_NOT_PERSISTABLE' })
  expect(redeemed).toEqual([])
  for (const family of families) closeFamily(family)
  expect(await ask(readOnly())).toBe('at-2')
})

test('pending sessions that have ended make room for another one', async () => {
  const { ask, clock, cookies, engine } = await signedIn()
  const session = (await engine.sessions.load(cookies.exchange())) ?? expect.fail('there is a session')
  const internal = { createdAt: clock.now - engine.config.session.absoluteDuration + 60 }
  const ending = { ...session, data: { ...session.data, internal } }
  const families = Array.from({ length: 1000 }, (_, at) => openFamily(`ending-${at}`, ending))
  for (const family of families) keepUntilSent(engine.config, family, ending)
  clock.now += 59
  const readOnly = () => ({ ...cookies.exchange(), canWrite: () => false })
  await expect(ask(readOnly())).rejects.toMatchObject({ code: 'REFRESH_NOT_PERSISTABLE' })
  clock.now += 1
  expect(await ask(readOnly())).toBe('at-2')
  expect(families.filter(isPending)).toEqual([])
})

test('[C2] at most 1000 sessions are pending, also if writes fail', async () => {
  const { cookies, engine } = await signedIn()
  const session = await engine.sessions.load(cookies.exchange())
  if (!session) throw new Error('no session')
  const families = Array.from({ length: 1001 }, (_, at) => openFamily(`pending-${at}`, session))
  for (const family of families) keepUntilSent(engine.config, family, session)
  expect(families.filter(isPending).length).toBeLessThanOrEqual(1000)
  expect(families.map(isPending)).toEqual(expect.arrayContaining([true, false]))
  for (const family of families) closeFamily(family)
})

test('[C2] a pending session is still available after as many other refreshes as are remembered', async () => {
  const { ask, clock, cookies, engine, redeemed } = await signedIn()
  const session = await engine.sessions.load(cookies.exchange())
  if (!session) throw new Error('no session')
  clock.now += 61
  expect(await ask({ ...cookies.exchange(), canWrite: () => false })).toBe('at-2')
  const others = Array.from({ length: 20_001 }, (_, at) => openFamily(`other-${at}`, session))
  expect(await ask(cookies.exchange())).toBe('at-2')
  expect(redeemed).toHaveLength(1)
  for (const family of others) closeFamily(family)
})

test('[C2] a session whose token is being redeemed is still known after as many other refreshes as are remembered', async () => {
  const { cookies, engine } = await signedIn()
  const session = (await engine.sessions.load(cookies.exchange())) ?? expect.fail('there is a session')
  const family = openFamily('redeemed', session)
  const { open, opened } = gate()
  const turn = createTurn(family, 'key', 1000, () => opened)
  family.turns = [turn]
  const others = Array.from({ length: 20_001 }, (_, at) => openFamily(`more-${at}`, session))
  expect(findFamily('redeemed', session, 0)).toBe(family)
  open()
  await turn.ended
  for (const each of [family, ...others]) closeFamily(each)
})

test('[C2] a session that is refreshed often without being written keeps only the tokens of the browser and the latest ones', async () => {
  const { clock, cookies, engine } = await signedIn()
  const session = await engine.sessions.load(cookies.exchange())
  if (!session) throw new Error('no session')
  const family = openFamily('token-0', session)
  let last = 0
  const refresh = (times: number): void => {
    for (let time = 0; time < times; time += 1) {
      advance(family, session, [`token-${last}`, `token-${++last}`], clock.now)
      keepUntilSent(engine.config, family, session)
      clock.now += 61
    }
  }
  const leads = (token: number) => findFamily(`token-${token}`, session, clock.now) === family
  refresh(100)
  expect([leads(0), leads(50), leads(100)]).toEqual([true, false, true])
  expect(family.tokens.length).toBeLessThan(6)
  markPersisted(family, clock.now)
  refresh(100)
  // The response that replaced the first one may be lost.
  expect([leads(0), leads(100), leads(150), leads(200)]).toEqual([true, true, false, true])
  expect(family.tokens.length).toBeLessThan(8)
  closeFamily(family)
})

test('[I2] a logout of the same request during a verification: its tokens are not saved', async () => {
  const { clock, cookies, engine } = await signedIn()
  const exchange = cookies.exchange()
  const session = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
  const { refreshToken: _none, ...tokenSet } = session.data.tokenSet
  const verification = verifyInSession(engine, exchange, {
    session: { ...session, data: { ...session.data, tokenSet } },
    want: toTokenRequest(engine.config.authorization, {}),
    key: 'popup',
    async verify() {
      await engine.sessions.destroy(exchange)
      return { accessToken: 'at-2', tokenType: 'Bearer', expiresAt: clock.now + 60 }
    },
  })
  await expect(verification).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  cookies.take(exchange)
  expect(await engine.sessions.load(cookies.exchange())).toBeNull()
})

test('after a step-up, the claims from UserInfo are those of the step-up', async () => {
  const { cookies, engine } = await signedIn()
  const exchange = cookies.exchange()
  const session = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
  const before = {
    ...session,
    data: { ...session.data, user: { sub: 'alice', admin: true } },
    userInfoClaims: ['admin'],
  }
  const want = toTokenRequest(engine.config.authorization, {})
  const { config, clientTag } = engine
  const saved: unknown[] = []
  const sessions = {
    ...engine.sessions,
    save: async (_exchange: unknown, one: unknown) => saved.push(one) > 0,
  }
  await verifyInSession({ config, clientTag, sessions }, exchange, {
    session: before,
    want,
    key: 'popup',
    verify: async () => ({
      accessToken: 'at-9',
      expiresAt: 4_000_000_000,
      tokenType: 'Bearer',
      claims: { sub: 'alice', groups: ['staff'] },
      userInfoClaims: ['groups'],
    }),
  })
  expect(saved).toEqual([
    expect.objectContaining({
      userInfoClaims: ['groups'],
      data: expect.objectContaining({ user: { sub: 'alice', groups: ['staff'] } }),
    }),
  ])
})

test('a session that the provider has ended has ended in this process, also where its cookie cannot be deleted', async () => {
  const { cookies, engine } = await signedIn()
  const exchange = cookies.exchange()
  const session = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
  const readOnly = { ...exchange, canWrite: () => false }
  expect(await endExpired(engine, readOnly, session)).toMatchObject({ code: 'SESSION_EXPIRED' })
  expect(hasEnded(session)).toBe(true)
  expect(await engine.sessions.load(readOnly)).toBeNull()
  expect(exchange.cookies.isPending).toBe(false)
})
