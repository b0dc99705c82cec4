import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/fast-check.ts'
import { defined } from '../../lib/objects.ts'
import { endsAt, hasEndedAtProvider, isAlive, isRollingDue, laterUse, remaining } from './lifetime.ts'

const rolling = { rolling: true, absoluteDuration: 259_200, inactivityDuration: 86_400 }
const fixed = { ...rolling, rolling: false }

const createTimes = (createdAt: number, usedAt: number, sessionExpiresAt?: number) => ({
  usedAt,
  data: { internal: defined({ createdAt, sessionExpiresAt }) },
})

describe('lifetime', () => {
  test('[S130] a session ends absoluteDuration after its creation, however recently it was used', () => {
    const times = createTimes(0, 259_199)
    expect(isAlive(times, rolling, 259_199)).toBe(true)
    expect(isAlive(times, rolling, 259_200)).toBe(false)
  })

  test('[S131] a session ends inactivityDuration after its last use', () => {
    const times = createTimes(0, 100)
    expect(isAlive(times, rolling, 86_499)).toBe(true)
    expect(isAlive(times, rolling, 86_500)).toBe(false)
  })

  test('[C8] a session that began in the future is rejected, beyond the tolerance for clocks', () => {
    for (const rules of [rolling, fixed]) {
      expect(isAlive(createTimes(4600, 4600), rules, 1000)).toBe(true)
      expect(isAlive(createTimes(4601, 4601), rules, 1000)).toBe(false)
      expect(isAlive(createTimes(9_999_999_999, 1000), rules, 1000)).toBe(false)
    }
  })

  test('[S134] without rolling only the absolute limit counts', () => {
    expect(isAlive(createTimes(0, 0), fixed, 259_199)).toBe(true)
    expect(endsAt(createTimes(0, 250_000), fixed)).toBe(259_200)
    expect(isRollingDue(0, fixed, 200_000)).toBe(false)
  })

  test('[S133] no use extends a session beyond its absolute limit; a lifetime is never negative', () => {
    const seconds = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(seconds, seconds, seconds, fc.boolean(), (createdAt, usedAt, now, roll) => {
        const rules = { ...rolling, rolling: roll }
        expect(endsAt(createTimes(createdAt, usedAt), rules)).toBeLessThanOrEqual(
          createdAt + rules.absoluteDuration,
        )
        const left = remaining(createTimes(createdAt, usedAt), rules, now)
        expect(left).toBeGreaterThanOrEqual(0)
        expect(left).toBeLessThanOrEqual(rules.absoluteDuration)
      }),
    )
  })

  test('the end at the provider only lowers the absolute limit, with and without rolling', () => {
    const absolute = 1000 + 259_200
    const table: [sessionExpiresAt: number | undefined, rules: typeof rolling, end: number][] = [
      [undefined, fixed, absolute],
      [5000, fixed, 5000],
      [5000, rolling, 5000],
      [absolute - 1, fixed, absolute - 1],
      [absolute - 1, rolling, 1000 + 86_400],
      [absolute, fixed, absolute],
      [absolute + 1, fixed, absolute],
      [Number.MAX_SAFE_INTEGER, fixed, absolute],
      [0, fixed, 0],
      [-1, rolling, -1],
    ]
    for (const [sessionExpiresAt, rules, end] of table) {
      const limited = createTimes(1000, 1000, sessionExpiresAt)
      expect(endsAt(limited, rules), `${sessionExpiresAt}`).toBe(end)
      expect([isAlive(limited, rules, end - 1), isAlive(limited, rules, end)]).toEqual([true, false])
      expect(remaining(limited, rules, 1000), `${sessionExpiresAt}`).toBe(Math.max(0, end - 1000))
    }
  })

  test('use is recorded after 10 % of the inactivity duration, at most five minutes', () => {
    expect(isRollingDue(0, rolling, 299)).toBe(false)
    expect(isRollingDue(0, rolling, 300)).toBe(true)
    expect(isRollingDue(0, { ...rolling, inactivityDuration: 600 }, 60)).toBe(true)
    expect(isRollingDue(0, { ...rolling, inactivityDuration: 600 }, 59)).toBe(false)
  })

  test('use is recorded after the clock was set back by more than the cookie would last', () => {
    const short = { ...rolling, inactivityDuration: 600 }
    expect(isRollingDue(1540, short, 1000)).toBe(false)
    expect(isRollingDue(1541, short, 1000)).toBe(true)
    expect(isRollingDue(4600, rolling, 1000)).toBe(false)
    expect(isRollingDue(4600, { ...short, rolling: false }, 1000)).toBe(false)
  })
})

test('the time of use never goes back, unless another server is more than an hour ahead', () => {
  expect([990, 1000, 1005, 4600, 4601].map((usedAt) => laterUse(usedAt, 1000))).toEqual([
    1000, 1000, 1005, 4600, 1000,
  ])
})

test('a session has ended at its provider from the second that the provider names', () => {
  const ending = { data: { internal: { createdAt: 0, sessionExpiresAt: 5000 } }, sessionKey: 'k', usedAt: 0 }
  expect([4999, 5000].map((now) => hasEndedAtProvider(ending, now))).toEqual([false, true])
})
