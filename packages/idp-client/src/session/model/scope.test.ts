import { expect, test } from 'vitest'
import { coversScope, sameScope, scopeSize, unitedScope, withoutScope } from './scope.ts'

test('scopes are sets: order and repetition have no effect', () => {
  expect(unitedScope('openid a', 'a b', undefined, '')).toBe('openid a b')
  expect(coversScope('a b c', 'c a')).toBe(true)
  expect(coversScope('a b', 'a c')).toBe(false)
  expect(coversScope(undefined, '')).toBe(true)
  expect(coversScope(undefined, 'a')).toBe(false)
  expect(sameScope('a b', 'b  a')).toBe(true)
  expect(sameScope('a', 'a b')).toBe(false)
  expect(scopeSize('a a b')).toBe(2)
  expect(withoutScope('a  b a c', 'a')).toBe('b c')
  expect(withoutScope('ab', 'a')).toBe('ab')
})
