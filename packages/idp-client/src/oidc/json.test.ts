import { expect, test } from 'vitest'
import { parseObject, stringList, stringProperty } from './json.ts'

test.each(['', 'null', '[]', '1', '"text"', '{', '<html>', '\uFEFF', `${'['.repeat(200_000)}`])(
  '%.20s is not an object',
  (text) => {
    expect(parseObject(text)).toBeNull()
  },
)

test('properties named __proto__ are dropped at every depth, other special names are data', () => {
  const value = parseObject(
    '{"__proto__":{"a":1},"b":[{"__proto__":{"a":1}}],"constructor":{"prototype":2},"toString":3}',
  )
  expect(JSON.stringify(value)).toBe('{"b":[{}],"constructor":{"prototype":2},"toString":3}')
  expect(Reflect.get({}, 'a')).toBeUndefined()
})

test.each(['__proto__', '\\u005f_proto__', '__prot\\u006f__', '\\u005F\\u005fproto__'])(
  'properties named %s are dropped, however the name is written',
  (name) => {
    const value = parseObject(`{"a":{"${name}":{"admin":true}},"${name}":{"admin":true}}`)
    expect(JSON.stringify(value)).toBe('{"a":{}}')
    expect(Reflect.get(Object(value?.['a']), 'admin')).toBeUndefined()
  },
)

test('the last of duplicate properties is used', () => {
  expect(parseObject('{"a":1,"a":2}')).toEqual({ a: 2 })
})

test('readers accept only the right type', () => {
  const value = { text: 'x', empty: '', number: 1, list: ['a', 1, null, 'b'], none: null }
  expect([
    stringProperty(value, 'text'),
    stringProperty(value, 'empty'),
    stringProperty(value, 'number'),
  ]).toEqual(['x', undefined, undefined])
  expect([stringList(value, 'list'), stringList(value, 'text'), stringList(value, 'none')]).toEqual([
    ['a', 'b'],
    undefined,
    undefined,
  ])
})
