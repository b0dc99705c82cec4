import { expect, test } from 'vitest'
import { retryAfterSeconds } from './call.ts'

test('Retry-After is a number of seconds or a date', () => {
  const now = 1_900_000_000
  const date = (seconds: number): string => new Date((now + seconds) * 1000).toUTCString()
  expect(['7', ' 0 ', date(90), date(-90)].map((text) => retryAfterSeconds(text, now))).toEqual([7, 0, 90, 0])
  expect(['', '-1', '1.5', 'soon', '9'.repeat(30)].map((text) => retryAfterSeconds(text, now))).toEqual(
    Array(5).fill(undefined),
  )
  expect(retryAfterSeconds(null, now)).toBeUndefined()
})
