import { afterEach, expect, test, vi } from 'vitest'
import { withProgress } from './lib/progress.mjs'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('slow work is printed every ten seconds until it ends, also with a failure', async () => {
  vi.useFakeTimers()
  const log = vi.spyOn(console, 'log').mockReturnValue()
  let fail
  const work = withProgress('types', () => new Promise((_, reject) => (fail = reject)))
  await vi.advanceTimersByTimeAsync(9_999)
  expect(log).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(10_001)
  expect(log.mock.calls).toEqual([['...     types: running for 10 s'], ['...     types: running for 20 s']])
  fail(new Error('no'))
  await expect(work).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(log).toHaveBeenCalledTimes(2)
})
