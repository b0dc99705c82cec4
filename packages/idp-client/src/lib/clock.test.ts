import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

afterEach(() => vi.useRealTimers())

test('whole seconds since the epoch', () => {
  vi.useFakeTimers({ now: 1_735_689_600_999 })
  expect(systemClock()).toBe(1_735_689_600)
})
