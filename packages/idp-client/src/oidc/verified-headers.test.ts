import { expect, test } from 'vitest'
import { VerifiedHeaders } from './verified-headers.ts'

test('the oldest header is forgotten above the limit', () => {
  const headers = new VerifiedHeaders<number>(2)
  headers.add('a', 1)
  headers.add('b', 2)
  headers.add('c', 3)
  expect(['a', 'b', 'c'].map((each) => headers.get(each))).toEqual([undefined, 2, 3])
})

test('a long header is not remembered', () => {
  const headers = new VerifiedHeaders<number>(2)
  const longest = 'a'.repeat(2048)
  headers.add(longest, 1)
  headers.add(`${longest}a`, 2)
  expect([headers.get(longest), headers.get(`${longest}a`)]).toEqual([1, undefined])
})
