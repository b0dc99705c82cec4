import { expect, test } from 'vitest'
import { addOwn, shallowCopy } from './own-properties.ts'

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

test('a copy has the same properties, however many there are', () => {
  for (const count of [0, 5, 128, 500]) {
    const names = Array.from({ length: count }, (_, index) => `"name_${index}":${index},`).join('')
    const source = JSON.parse(`{${names}"__proto__":{"polluted":true}}`) as Record<string, unknown>
    const copy = shallowCopy(source)
    expect(copy).not.toBe(source)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(source))
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  }
})
