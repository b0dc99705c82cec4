import { expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { strictText, text, utf8, utf8Length } from './utf8.ts'

test('text is encoded to bytes and decoded to the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const bytes = utf8(value)
      expect(text(bytes)).toBe(value)
      expect(strictText(bytes)).toBe(value)
      expect(utf8Length(value)).toBe(bytes.length)
    }),
  )
})

test('invalid UTF-8 is replaced by one decoder and rejected by the other', () => {
  const broken = new Uint8Array([0x61, 0xff])
  expect(text(broken)).toBe('a\ufffd')
  expect(() => strictText(broken)).toThrow(TypeError)
})
