import { expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { fromBase64url, toBase64url } from '../crypto/base64url.ts'
import { isBase64url } from './signed-token.ts'

test('isBase64url is true for exactly what fromBase64url decodes', () => {
  for (const text of ['', 'A', 'AA', 'AB', 'AAA', 'AAB', 'AAAA', 'AA==', 'AA\n', 'A+AA', 'AA.A', '\u0141AAA'])
    expect([text, isBase64url(text)]).toEqual([text, fromBase64url(text) !== null])
  const unit = fc.constantFrom(...'AQgwEIMUYckos048BZaz19-_', '+', '/', '=', ' ', '\u0141')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      expect(isBase64url(text)).toBe(fromBase64url(text) !== null)
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(isBase64url(toBase64url(new Uint8Array(bytes)))).toBe(true)
    }),
  )
})
