import { expect, test } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { randomToken } from '../../crypto/random.ts'
import { freshlyStored } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { toTokenRequest } from '../token-request.ts'
import {
  advance,
  closeFamily,
  endInProcess,
  findFamily,
  findToken,
  forgetProcessTokens,
  hasEnded,
  isPending,
  keepProcessToken,
  keepUntilSent,
  openFamily,
} from './process-memory.ts'

function session(sessionKey: string, refreshToken: string): StoredSession {
  const tokenSet = { accessToken: 'at', expiresAt: 0, refreshToken }
  return { data: { user: { sub: 'alice' }, tokenSet, internal: { createdAt: 0 } }, sessionKey, usedAt: 0 }
}

test('older tokens of a session resolve to its current ones for a minute', () => {
  const [sessionKey, from, to] = [randomToken(), randomToken(), randomToken()]
  const [before, after] = [session(sessionKey, 'rt-1'), session(sessionKey, 'rt-2')]
  const family = openFamily(from, before)
  advance(family, after, [from, to], 1000)
  expect(findFamily(from, before, 1059)?.latest).toBe(after)
  expect(findFamily(to, after, 1059)?.latest).toBe(after)
  expect(findFamily(from, session(randomToken(), 'rt-1'), 1059)).toBeUndefined()
  expect(findFamily(from, before, 1060)).toBeUndefined()
})

test('[I2] a session that has ended stays ended, also when its refresh completes later', () => {
  const [sessionKey, from, to] = [randomToken(), randomToken(), randomToken()]
  const [before, after] = [session(sessionKey, 'rt-1'), session(sessionKey, 'rt-2')]
  const family = openFamily(from, before)
  closeFamily(family)
  advance(family, after, [from, to], 1000)
  expect(findFamily(from, before, 1001)).toBeUndefined()
  expect(findFamily(to, after, 1001)).toBeUndefined()
  expect(family.latest).toBe(before)
})

test('[I2] the end of a session closes its family and drops its tokens, before anything is awaited', async () => {
  const { config } = engineFor().engine
  const [from, to] = [randomToken(), randomToken()]
  const [before, after] = [session(randomToken(), 'rt-1'), session(randomToken(), 'rt-1')]
  const want = {
    ...toTokenRequest(config.authorization, { audience: 'a', mergeScopes: false }),
    processOnly: true,
  } as const
  keepProcessToken(config, before, want, { accessToken: 't', audience: 'a', expiresAt: config.clock() + 10 })
  expect(findToken(config, before, want)?.accessToken).toBe('t')
  void endInProcess(before, new Promise(() => {}))
  expect([hasEnded(before), hasEnded(after), findToken(config, before, want)]).toEqual([
    true,
    false,
    undefined,
  ])
  const family = openFamily(from, after)
  advance(family, after, [from, to], 1000)
  keepUntilSent(config, family, after)
  await endInProcess(after, family)
  expect([isPending(family), findFamily(from, after, 1001)]).toEqual([false, undefined])
})

test('[C2] the access token of the account API is kept for one session, user, client, audience and scope until it ends', () => {
  const { clock, engine } = engineFor()
  const { config } = engine
  const tokenSet = { accessToken: 'main', expiresAt: clock.now + 60 }
  const of = (sub: string): StoredSession =>
    freshlyStored({ user: { sub }, tokenSet, internal: { createdAt: clock.now } }, clock.now)
  const session = of('alice')
  const want = {
    ...toTokenRequest(config.authorization, { audience: 'a', scope: 's', mergeScopes: false }),
    processOnly: true,
  } as const
  const token = { accessToken: 't', audience: 'a', scope: 's', expiresAt: clock.now + 10 }
  const kept = (...given: [StoredSession?, Partial<typeof want>?, string?]) => {
    const [of = session, changes = {}, clientId = config.clientId] = given
    return findToken({ ...config, clientId }, of, { ...want, ...changes })
  }
  keepProcessToken(config, session, want, token)
  expect(kept()).toEqual(token)
  expect([
    kept(of('alice')),
    kept({ ...session, data: { ...session.data, user: { sub: 'bob' } } }),
    kept(session, { audience: 'x' }),
    kept(session, { scope: 'x' }),
    kept(session, {}, 'another-client'),
  ]).toEqual(Array.from({ length: 5 }))
  clock.now += 10
  expect(kept()).toBeUndefined()
  clock.now -= 1
  expect(kept()).toEqual(token)
  forgetProcessTokens(session.sessionKey)
  expect(kept()).toBeUndefined()
})
