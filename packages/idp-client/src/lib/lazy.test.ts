import { expect, test, vi } from 'vitest'
import { lazy } from './lazy.ts'

test('creates the value at the first call only', () => {
  const create = vi.fn(() => ({}))
  const value = lazy(create)
  expect(create).not.toHaveBeenCalled()
  expect(value()).toBe(value())
  expect(create).toHaveBeenCalledTimes(1)
})

test('caches undefined too', () => {
  const create = vi.fn(() => undefined)
  const value = lazy(create)
  value()
  value()
  expect(create).toHaveBeenCalledTimes(1)
})

test('tries again after an exception', () => {
  const create = vi.fn((): string => 'made')
  create.mockImplementationOnce(() => {
    throw new Error('not yet')
  })
  const value = lazy(create)
  expect(value).toThrow('not yet')
  expect(value()).toBe('made')
})
