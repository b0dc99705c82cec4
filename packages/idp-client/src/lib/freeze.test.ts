import { expect, test } from 'vitest'
import { deepFreeze, frozenMap, frozenSet } from './freeze.ts'

test('freezes objects and arrays deeply', () => {
  const value = deepFreeze({ a: [{ b: 1 }], c: Object.assign(Object.create(null), { d: {} }) })
  expect([value, value.a, value.a[0], value.c, value.c.d].every((part) => Object.isFrozen(part))).toBe(true)
})

test('does not freeze functions, class instances and the given exception', () => {
  class Store {
    count = 0
  }
  const mine = { count: 0 }
  const value = deepFreeze({ hook: () => 1, store: new Store(), mine }, mine)
  value.store.count++
  value.mine.count++
  expect([Object.isFrozen(value), Object.isFrozen(value.hook), value.store.count, mine.count]).toEqual([
    true,
    false,
    1,
    1,
  ])
})

test('terminates at a cycle', () => {
  const loop: { self?: unknown } = {}
  loop.self = loop
  expect(Object.isFrozen(deepFreeze(loop))).toBe(true)
})

test('maps and sets cannot be changed by their own methods', () => {
  const map = frozenMap([['a', 1]]) as Map<string, number>
  const set = frozenSet(['a']) as Set<string>
  for (const change of [
    () => map.set('b', 2),
    () => map.delete('a'),
    () => map.clear(),
    () => set.add('b'),
    () => set.delete('a'),
    () => set.clear(),
  ]) {
    expect(change).toThrow(TypeError)
  }
  expect([[...map], [...set]]).toEqual([[['a', 1]], ['a']])
})
