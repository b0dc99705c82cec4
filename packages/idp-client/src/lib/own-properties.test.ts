import { expect, test } from 'vitest'
import { addOwn } from './own-properties.ts'

test('properties of any name are added, and replace those of the same name', () => {
  const target: Record<string, unknown> = { kept: 1, replaced: 1 }
  const source = JSON.parse('{"replaced":2,"__proto__":{"polluted":true},"constructor":3}') as Record<
    string,
    unknown
  >
  expect(addOwn(target, source)).toBe(target)
  expect(JSON.stringify(target)).toBe('{"kept":1,"replaced":2,"__proto__":{"polluted":true},"constructor":3}')
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype)
  expect(target['polluted']).toBeUndefined()
})
