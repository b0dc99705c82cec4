import { expect, test } from 'vitest'
import { randomToken } from '../../crypto/random.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { advance, closeFamily, findFamily, openFamily } from './families.ts'

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

test('the end of a session leaves another one with the same refresh token alone', () => {
  const key = randomToken()
  const [one, other] = [session(randomToken(), 'rt-1'), session(randomToken(), 'rt-1')]
  const ended = openFamily(key, one)
  const family = openFamily(key, other)
  closeFamily(ended)
  expect(findFamily(key, other, 1000)).toBe(family)
})
