import { expect, test } from 'vitest'
import { UsedNames } from './used-names.ts'

const LIMIT = 100_000

test('a name is taken once, until its time is over', () => {
  const names = new UsedNames()
  expect(names.take('one', { expiresAt: 100, now: 0 })).toBe(true)
  expect(names.take('one', { expiresAt: 200, now: 99 })).toBe(false)
  expect(names.take('one', { expiresAt: 200, now: 100 })).toBe(true)
  expect(names.take('one', { expiresAt: 300, now: 199 })).toBe(false)
})

test('a full memory forgets only names whose time is over, and takes no others', () => {
  const names = new UsedNames()
  // It stays in front of those that end before.
  names.take('long', { expiresAt: 1000, now: 0 })
  for (let at = 1; at < LIMIT; at++) names.take(`name ${at}`, { expiresAt: 100, now: 0 })
  expect(names.take('further', { expiresAt: 100, now: 99 })).toBeUndefined()
  expect(names.take('name 1', { expiresAt: 100, now: 99 })).toBe(false)
  expect(names.take('further', { expiresAt: 200, now: 100 })).toBe(true)
  expect(names.take('long', { expiresAt: 1000, now: 100 })).toBe(false)
})
