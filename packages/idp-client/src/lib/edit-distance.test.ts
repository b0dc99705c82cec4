import { expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { editDistance } from './edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1],
  ['abc', 'ab', 1],
  ['abc', 'abcd', 1],
  ['abc', 'acb', 1],
  ['clinetId', 'clientId', 1],
  ['kitten', 'sitting', 3],
])('%j to %j is %d', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance)
})

test('is symmetric, and between the difference of the lengths and the longer length', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      const distance = editDistance(a, b)
      expect(distance).toBe(editDistance(b, a))
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
      expect(distance === 0).toBe(a === b)
    }),
  )
})
