import { expect, test, vi } from 'vitest'
import { pause } from './pause.ts'

test('resolves after the time', async () => {
  vi.useFakeTimers()
  const done = vi.fn()
  const waiting = pause(5000).then(done)
  await vi.advanceTimersByTimeAsync(4999)
  expect(done).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  await waiting
  vi.useRealTimers()
})

test('an aborted signal ends it immediately, before or during it, and removes its listener', async () => {
  const controller = new AbortController()
  const add = vi.spyOn(controller.signal, 'addEventListener')
  const remove = vi.spyOn(controller.signal, 'removeEventListener')
  const waiting = pause(2 ** 31 - 1, controller.signal)
  controller.abort()
  await waiting
  await pause(2 ** 31 - 1, controller.signal)
  expect(add).toHaveBeenCalledTimes(1)
  expect(remove.mock.calls.map(([type]) => type)).toEqual(['abort'])
})
