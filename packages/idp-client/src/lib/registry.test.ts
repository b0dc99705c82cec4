import { expect, test, vi } from 'vitest'
import { perObject, processWide, processWideFor, toKey } from './registry.ts'

test('one value per entry is created at the first call', () => {
  const create = vi.fn(() => new Map())
  const value = processWide('state:registry.test-a/1', create)
  expect(processWide('state:registry.test-a/1', create)).toBe(value)
  expect(create).toHaveBeenCalledTimes(1)
  expect(processWide('state:registry.test-b/1', create)).not.toBe(value)
})

test('a second copy of the module shares the entries', async () => {
  const value = processWide('state:registry.test-c/1', () => ({}))
  vi.resetModules()
  const copy = await import('./registry.ts')
  expect(copy.processWide).not.toBe(processWide)
  expect(copy.processWide('state:registry.test-c/1', () => ({}))).toBe(value)
})

test('the value of an entry may be undefined', () => {
  const create = vi.fn(() => undefined)
  processWide('state:registry.test-d/1', create)
  processWide('state:registry.test-d/1', create)
  expect(create).toHaveBeenCalledTimes(1)
})

test('an object keeps its value, also for a second copy of the module; another object has its own', async () => {
  const [one, other] = [{}, () => {}]
  const create = (): object => ({})
  const value = processWideFor('state:registry.test-e/1', one, create)
  expect(processWideFor('state:registry.test-e/1', one, create)).toBe(value)
  expect(processWideFor('state:registry.test-e/1', other, create)).not.toBe(value)
  vi.resetModules()
  const copy = await import('./registry.ts')
  expect(copy.processWideFor('state:registry.test-e/1', one, create)).toBe(value)
})

test('keys of different parts differ', () => {
  const parts = [['a', 'b'], ['a b'], ['a,b'], ['a', 'b', ''], ['a', ['b']], ['1'], [1]]
  expect(new Set(parts.map((given) => toKey(...given))).size).toBe(parts.length)
})

test('creates one value for each object', () => {
  const create = vi.fn((key: { readonly name: string }) => ({ of: key.name }))
  const get = perObject(create)
  const [one, other] = [{ name: 'one' }, { name: 'one' }]
  expect(get(one)).toEqual({ of: 'one' })
  expect(get(one)).toBe(get(one))
  expect(get(other)).not.toBe(get(one))
  expect(create).toHaveBeenCalledTimes(2)
})

test('tries again after an exception', () => {
  let isBroken = true
  const get = perObject(() => {
    if (isBroken) throw new Error('not yet')
    return {}
  })
  const key = {}
  expect(() => get(key)).toThrow('not yet')
  isBroken = false
  expect(get(key)).toBe(get(key))
})
