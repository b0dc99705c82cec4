import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sweeping } from './request-scope.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('[D2] sweeps with one timer for any number of entries, as long as one is left', () => {
  let left = 2
  const sweep = vi.fn(() => --left > 0)
  const schedule = sweeping(1000, sweep)
  for (let added = 0; added < 100; added += 1) schedule()
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1000)
  expect(sweep).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1000)
  expect(sweep).toHaveBeenCalledTimes(2)
  expect(vi.getTimerCount()).toBe(0)
  schedule()
  expect(vi.getTimerCount()).toBe(1)
})

test('[D2] sweeps again after the runtime ended the timer with its request', () => {
  const sweep = vi.fn(() => false)
  const schedule = sweeping(1000, sweep)
  schedule()
  vi.clearAllTimers()
  vi.advanceTimersByTime(1999)
  schedule()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(2)
  schedule()
  // At once, since the next timer may be lost, too.
  expect(sweep).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1000)
  expect(sweep).toHaveBeenCalledTimes(2)
})
