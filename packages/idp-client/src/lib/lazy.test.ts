import { expect, test, vi } from 'vitest'
import { lazy } from './lazy.ts'

test('creates at the first call and once', () => {
  const create = vi.fn(() => ({}))
  const value = lazy(create)
  expect(create).not.toHaveBeenCalled()
  expect(value()).toBe(value())
  expect(create).toHaveBeenCalledTimes(1)
})

test('remembers undefined too', () => {
  const create = vi.fn(() => undefined)
  const value = lazy(create)
  value()
  value()
  expect(create).toHaveBeenCalledTimes(1)
})

test('tries again after a throw', () => {
  const create = vi.fn((): string => 'made')
  create.mockImplementationOnce(() => {
    throw new Error('not yet')
  })
  const value = lazy(create)
  expect(value).toThrow('not yet')
  expect(value()).toBe('made')
})
