import { expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { strictText, text, utf8, utf8Length } from './base64url.ts'

test('text and bytes are each other', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const bytes = utf8(value)
      expect(text(bytes)).toBe(value)
      expect(strictText(bytes)).toBe(value)
      expect(utf8Length(value)).toBe(bytes.length)
    }),
  )
})

test('bytes that are no UTF-8 are replaced by one reader and refused by the other', () => {
  const broken = new Uint8Array([0x61, 0xff])
  expect(text(broken)).toBe('a\ufffd')
  expect(() => strictText(broken)).toThrow(TypeError)
})
