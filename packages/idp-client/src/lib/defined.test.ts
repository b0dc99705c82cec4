import { expect, test } from 'vitest'
import { defined } from './defined.ts'

test('properties that are undefined are left out; all others stay', () => {
  const given = { a: undefined, b: null, c: 0, d: '', e: false, f: 'x' }
  const result = defined(given)
  expect(Object.keys(result)).toEqual(['b', 'c', 'd', 'e', 'f'])
  expect(result).toEqual({ b: null, c: 0, d: '', e: false, f: 'x' })
})
