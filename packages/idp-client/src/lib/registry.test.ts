import { expect, test, vi } from 'vitest'
import { shared } from './registry.ts'

test('one value per slot, made at the first request', () => {
  const create = vi.fn(() => new Map())
  const slot = shared('registry.test a', create)
  expect(shared('registry.test a', create)).toBe(slot)
  expect(create).toHaveBeenCalledTimes(1)
  expect(shared('registry.test b', create)).not.toBe(slot)
})

test('a second copy of the module finds the same slots', async () => {
  const slot = shared('registry.test c', () => ({}))
  vi.resetModules()
  const copy = await import('./registry.ts')
  expect(copy.shared).not.toBe(shared)
  expect(copy.shared('registry.test c', () => ({}))).toBe(slot)
})

test('a slot may hold undefined', () => {
  const create = vi.fn(() => undefined)
  shared('registry.test d', create)
  shared('registry.test d', create)
  expect(create).toHaveBeenCalledTimes(1)
})
