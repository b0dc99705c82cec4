import { expect, test } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { randomToken } from '../../crypto/random.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { advance, closeFamily, findFamily, keepUntilSent, markPersisted, openFamily } from './families.ts'

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

/** A session that is refreshed: its tokens are `rt-0`, `rt-1` … */
function refreshed() {
  const { config } = engineFor().engine
  const name = randomToken()
  const one = { ...session(randomToken(), 'rt'), usedAt: config.clock() }
  const family = openFamily(`${name} 0`, one)
  let last = 0
  return {
    family,
    refresh(now: number): void {
      advance(family, one, [`${name} ${last}`, `${name} ${++last}`], now)
      keepUntilSent(config, family, one)
    },
    resolves: (token: number, now: number): boolean => findFamily(`${name} ${token}`, one, now) === family,
  }
}

test('a token whose cookie was replaced by a lost response resolves to its session while that is pending', () => {
  const { family, refresh, resolves } = refreshed()
  refresh(0)
  markPersisted(family, 0)
  refresh(10)
  // The browser never gets this one.
  markPersisted(family, 10)
  for (const now of [30, 90, 150, 210, 270]) refresh(now)
  expect([1, 2, 4, 7].map((token) => resolves(token, 270))).toEqual([true, true, false, true])
  closeFamily(family)
})

test('a session that is refreshed every few seconds keeps the tokens of a minute or two', () => {
  const { family, refresh, resolves } = refreshed()
  for (let now = 0; now < 1000; now += 10) {
    refresh(now)
    markPersisted(family, now)
    markPersisted(family, now + 1)
  }
  expect(family.tokens.length).toBeLessThan(15)
  expect([10, 95, 100].map((token) => resolves(token, 999))).toEqual([false, true, true])
  closeFamily(family)
})

test('[I2] no token resolves to a session that has ended, also not the one that its family was opened for', () => {
  const [sessionKey, first, next, last] = [randomToken(), randomToken(), randomToken(), randomToken()]
  const one = session(sessionKey, 'rt-1')
  const family = openFamily(first, one)
  // The application replaced the token of the session while its redemption was queued.
  advance(family, session(sessionKey, 'rt-3'), [next, last], 1000)
  expect(findFamily(first, one, 1001)).toBe(family)
  closeFamily(family)
  expect(findFamily(first, one, 1001)).toBeUndefined()
})
