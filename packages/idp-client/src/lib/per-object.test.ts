import { expect, test, vi } from 'vitest'
import { perObject } from './per-object.ts'

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
