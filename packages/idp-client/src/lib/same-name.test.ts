import { expect, test } from 'vitest'
import { isSameName } from './same-name.ts'

test.each([
  ['acme', 'acme'],
  ['ACME', 'acme'],
  ['Ärzte', 'ärzte'],
  ['caf\u00e9', 'cafe\u0301'],
  ['', ''],
])('[IDT-16] %j and %j are the same', (one, other) => {
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
])('[IDT-16] %j and %j only look alike', (one, other) => {
  expect(isSameName(one, other)).toBe(false)
  expect(isSameName(other, one)).toBe(false)
})
