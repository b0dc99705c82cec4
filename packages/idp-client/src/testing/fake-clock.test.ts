import { expect, test } from 'vitest'
import { fakeClock } from './fake-clock.ts'

test('returns the same time until it is moved', () => {
  const clock = fakeClock(1000)
  expect([clock(), clock()]).toEqual([1000, 1000])
  clock.advance(60)
  expect(clock()).toBe(1060)
  clock.advance(-10)
  expect(clock()).toBe(1050)
  clock.set(5)
  expect(clock()).toBe(5)
})

test('starts at a fixed time; clocks are independent', () => {
  const [one, two] = [fakeClock(), fakeClock()]
  one.advance(1)
  expect([one(), two()]).toEqual([1_735_689_601, 1_735_689_600])
})
