import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

afterEach(() => vi.useRealTimers())

test('is the number of seconds since the epoch, as an integer', () => {
  vi.useFakeTimers({ now: 1_735_689_600_999 })
  expect(systemClock()).toBe(1_735_689_600)
})
