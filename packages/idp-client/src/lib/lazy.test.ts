import { expect, test, vi } from 'vitest'
import { lazy, lazyPromise } from './request-scope.ts'

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

test('shares a promise, and tries again after a rejection', async () => {
  const create = vi.fn(async () => 'made')
  create.mockRejectedValueOnce(new Error('not yet'))
  const value = lazyPromise(create)
  const first = value()
  expect(value()).toBe(first)
  await expect(first).rejects.toThrow('not yet')
  expect(await value()).toBe('made')
  expect(await value()).toBe('made')
  expect(create).toHaveBeenCalledTimes(2)
})
