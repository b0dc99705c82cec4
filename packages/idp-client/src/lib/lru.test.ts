import { expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { Lru } from './lru.ts'

test('removes the least recently used entry', () => {
  const lru = new Lru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  expect(lru.get('a')).toBe(1)
  lru.set('c', 3)
  expect(lru.get('b')).toBeUndefined()
  expect([lru.get('a'), lru.get('c')]).toEqual([1, 3])
})

test('writing an entry again counts as a use and replaces it', () => {
  const lru = new Lru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  lru.set('a', 9)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.size]).toEqual([9, undefined, 2])
})

test('keeps entries in use, and removes the next one instead', () => {
  const lru = new Lru<string, number>(2, (value) => value < 0)
  lru.set('a', -1)
  lru.set('b', 2)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([-1, undefined, 3, 2])
  lru.set('d', -4)
  lru.set('e', -5)
  expect([lru.get('a'), lru.get('d'), lru.get('e'), lru.size]).toEqual([-1, -4, -5, 3])
  lru.set('a', 1)
  lru.set('d', 4)
  expect([lru.get('e'), lru.size]).toEqual([-5, 2])
})

test('deletes an entry', () => {
  const lru = new Lru<string, number>(2)
  lru.set('a', 1)
  expect([lru.delete('a'), lru.delete('a'), lru.get('a'), lru.size]).toEqual([true, false, undefined, 0])
})

test('lists the entries by their last use, without using them', () => {
  const lru = new Lru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  lru.get('a')
  expect([[...lru.entries()], [...lru.entries()]]).toEqual([
    [
      ['b', 2],
      ['a', 1],
    ],
    [
      ['b', 2],
      ['a', 1],
    ],
  ])
})

test('never has more entries than its limit, and always has the last one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(9), { minLength: 1 }), (limit, keys) => {
      const lru = new Lru<number, string>(limit)
      for (const key of keys) {
        lru.set(key, `value ${key}`)
        expect(lru.size).toBeLessThanOrEqual(limit)
        expect(lru.get(key)).toBe(`value ${key}`)
      }
    }),
  )
})
