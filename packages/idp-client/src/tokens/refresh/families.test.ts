import { afterEach, expect, test, vi } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { randomToken } from '../../crypto/random.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import {
  advance,
  closeFamily,
  findFamily,
  isKnownToken,
  keepUntilSent,
  markPersisted,
  markSent,
  openFamily,
  touch,
} from './families.ts'
import { createTurn } from './turn.ts'

afterEach(() => vi.useRealTimers())

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

test.each([
  ['its own', markPersisted],
  ['perhaps an earlier one', markSent],
])(
  'a response has set the cookie of a pending session, %s: its latest token resolves while the session is pending again',
  (_which, mark) => {
    const { family, refresh, resolves } = refreshed()
    for (const now of [0, 30]) refresh(now)
    mark(family, 30)
    for (const now of [60, 150, 240, 330]) refresh(now)
    expect([2, 4, 6].map((token) => resolves(token, 330))).toEqual([true, false, true])
    closeFamily(family)
  },
)

test('old families are deleted, except pending ones and those with a running redemption', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { config } = engineFor().engine
  const open = () => {
    const [key, one] = [randomToken(), session(randomToken(), 'rt')]
    return { key, one, family: openFamily(key, one) }
  }
  const unused = open()
  const pending = open()
  keepUntilSent(config, pending.family, { ...pending.one, usedAt: config.clock() })
  const [running, lost] = [3_600_000, 0].map((milliseconds) => {
    const { family, key } = open()
    family.turns = [createTurn(family, 'key', milliseconds, () => new Promise(() => {}))]
    return { family, key }
  })
  touch(unused.family)
  vi.advanceTimersByTime(600_000)
  const recent = open()
  touch(recent.family)
  const known = [unused, lost, pending, running, recent].map((one) => isKnownToken(one?.key ?? ''))
  expect(known).toEqual([false, false, true, true, true])
  for (const one of [pending, running, recent]) if (one) closeFamily(one.family)
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
