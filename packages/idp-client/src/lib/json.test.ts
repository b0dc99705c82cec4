import { expect, test } from 'vitest'
import { decodeJsonObject } from './json.ts'
import { utf8 } from './utf8.ts'

test('a JSON object in UTF-8 is decoded', () => {
  expect(decodeJsonObject(utf8('{"name":"Zoë"}'))).toEqual({ name: 'Zoë' })
})

test.each([
  ['nothing', null],
  ['no bytes', utf8('')],
  ['a list', utf8('[]')],
  ['null', utf8('null')],
  ['a string', utf8('"{}"')],
  ['text that is no JSON', utf8('{')],
  ['bytes that are no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
])('%s is no object', (_name, bytes) => {
  expect(decodeJsonObject(bytes)).toBeNull()
})
