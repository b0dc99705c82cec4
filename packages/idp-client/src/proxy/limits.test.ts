import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Limits } from './limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a later end than that of the request does not extend it', async () => {
  const limits = new Limits({ duration: 1000, idle: 10_000 })
  limits.shorten(5000)
  await vi.advanceTimersByTimeAsync(1000)
  expect([limits.reason, limits.signal.aborted]).toEqual(['over', true])
})

test('an earlier end ends it then, and nothing after its end changes the reason', async () => {
  const limits = new Limits({ duration: 10_000, idle: 10_000 })
  limits.shorten(1000)
  await vi.advanceTimersByTimeAsync(999)
  expect(limits.reason).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(limits.reason).toBe('over')
  limits.shorten(10)
  limits.end('client')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(limits.reason).toBe('over')
})

test('an earlier end does not extend the time without movement', async () => {
  const limits = new Limits({ duration: 10_000, idle: 1000 })
  limits.shorten(5000)
  await vi.advanceTimersByTimeAsync(1000)
  expect(limits.reason).toBe('idle')
})

test('a request that ends by both limits at once is over', async () => {
  const limits = new Limits({ duration: 1000, idle: 1000 })
  await vi.advanceTimersByTimeAsync(1000)
  expect(limits.reason).toBe('over')
})
