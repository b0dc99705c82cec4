import { expect, test, vi } from 'vitest'
import { identify } from './identify.ts'

test('an object keeps its number, also for a second copy of the module; numbers are unique', async () => {
  const [one, other] = [{}, () => {}]
  const number = identify(one)
  expect([identify(other) === number, identify(one)]).toEqual([false, number])
  vi.resetModules()
  const copy = await import('./identify.ts')
  expect(copy.identify(one)).toBe(number)
})
