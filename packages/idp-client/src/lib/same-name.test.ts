import { expect, test } from 'vitest'
import { isSameName } from './same-name.ts'

test.each([
  ['acme', 'acme'],
  ['ACME', 'acme'],
  ['Ärzte', 'ärzte'],
  ['caf\u00e9', 'cafe\u0301'],
  ['', ''],
])('%j and %j are the same', (one, other) => {
  expect(isSameName(one, other)).toBe(true)
  expect(isSameName(other, one)).toBe(true)
})

test.each([
  ['acme', 'acme '],
  ['acme', '\u0430cme'],
  ['acme', '\uff41cme'],
  ['acme', 'acme\u200b'],
  ['kiosk', 'k\u0131osk'],
  ['kiosk', 'k\u0130osk'],
  ['cafe', 'caf\u00e9'],
  ['office', 'o\ufb03ce'],
])('%j and %j only look the same', (one, other) => {
  expect(isSameName(one, other)).toBe(false)
  expect(isSameName(other, one)).toBe(false)
})

test.each([
  ['kiosk', '\u212aiosk'],
  ['Kiosk', '\u212aiosk'],
  ['\u00e5s', '\u212bs'],
  ['A\u030as', '\u212bs'],
  ['\u03c9', '\u2126'],
  ['\u03b8', '\u03f4'],
  ['a;b', 'a\u037eb'],
  ['\u8eca', '\uf902'],
])('[C8] %j and the compatibility character of %j are different', (one, other) => {
  expect(isSameName(one, other)).toBe(false)
  expect(isSameName(other, one)).toBe(false)
  expect(isSameName(other, other)).toBe(true)
  expect(isSameName(`${other}\u00c9`, `${other}e\u0301`)).toBe(true)
})
