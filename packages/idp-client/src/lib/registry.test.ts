import { expect, test, vi } from 'vitest'
import { shared, toKey } from './registry.ts'

test('one value per slot is created at the first request', () => {
  const create = vi.fn(() => new Map())
  const slot = shared('state:registry.test-a/1', create)
  expect(shared('state:registry.test-a/1', create)).toBe(slot)
  expect(create).toHaveBeenCalledTimes(1)
  expect(shared('state:registry.test-b/1', create)).not.toBe(slot)
})

test('a second copy of the module uses the same slots', async () => {
  const slot = shared('state:registry.test-c/1', () => ({}))
  vi.resetModules()
  const copy = await import('./registry.ts')
  expect(copy.shared).not.toBe(shared)
  expect(copy.shared('state:registry.test-c/1', () => ({}))).toBe(slot)
})

test('a slot may contain undefined', () => {
  const create = vi.fn(() => undefined)
  shared('state:registry.test-d/1', create)
  shared('state:registry.test-d/1', create)
  expect(create).toHaveBeenCalledTimes(1)
})

test('keys of different parts differ', () => {
  const parts = [['a', 'b'], ['a b'], ['a,b'], ['a', 'b', ''], ['a', ['b']], ['1'], [1]]
  expect(new Set(parts.map((given) => toKey(...given))).size).toBe(parts.length)
})
