import { expect, test } from 'vitest'
import { addOwn, copyJson, defined, shallowCopy } from './objects.ts'

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

type Data = Record<'tokenSet' | 'user', Record<string, unknown>> & Record<string, unknown>

test('[C7] a copy shares no object, and keeps names like __proto__ as properties', () => {
  const text = `{"user":{"sub":"a","__proto__":{"x":1},"roles":[{"name":"r"}],"none":null},
    "__proto__":{"polluted":true},"tokenSet":{"accessToken":"t","expiresAt":1},"internal":{"createdAt":1}}`
  const data = JSON.parse(text) as Data
  const copy = copyJson(data)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  expect(copy['polluted']).toBeUndefined()
  expect(Object.getPrototypeOf(copy.user)).toBe(Object.prototype)
  copy.tokenSet['accessToken'] = 'other'
  copy.user['sub'] = 'other'
  for (const role of copy.user['roles'] as { name: string }[]) role.name = 'other'
  expect(data).toMatchObject({ tokenSet: { accessToken: 't' }, user: { sub: 'a', roles: [{ name: 'r' }] } })
})

test('[C7] a user with hundreds of claims is copied', () => {
  const claims = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`claim_${index}`, [index]]))
  const text = JSON.stringify({ user: { sub: 'a', ...claims }, tokenSet: {}, internal: { createdAt: 1 } })
  const data = JSON.parse(text.replace('claim_7"', '__proto__"')) as Data
  const copy = copyJson(data)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  expect(Object.getPrototypeOf(copy.user)).toBe(Object.prototype)
  expect(copy.user['claim_9']).not.toBe(data.user['claim_9'])
})

test('properties that are undefined are left out; all others stay', () => {
  const given = { a: undefined, b: null, c: 0, d: '', e: false, f: 'x' }
  const result = defined(given)
  expect(Object.keys(result)).toEqual(['b', 'c', 'd', 'e', 'f'])
  expect(result).toEqual({ b: null, c: 0, d: '', e: false, f: 'x' })
  expect(defined(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }))).toEqual({
    own: 2,
  })
})
