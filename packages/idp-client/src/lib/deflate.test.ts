import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { incompressible } from '../../test/support/incompressible.ts'
import { createDeflate } from './deflate.ts'
import type { Bytes } from './utf8.ts'
import { utf8 } from './utf8.ts'

const dictionary = utf8(
  '{"iss":"https://","aud":"","iat":17,"exp":17,"email_verified":true,"scope":"openid profile"}',
)
const { deflate, inflate } = createDeflate(dictionary)

const toBytes = (bytes: Uint8Array): Bytes => new Uint8Array(bytes)
const binary = fc.uint8Array({ maxLength: 400 }).map(toBytes)
/** Text with many repetitions, inside and of the dictionary. */
const claims = fc
  .array(fc.oneof(fc.constantFrom('"iss":"https://', '"email_verified":true', 'aaaaaaaa', '{}'), fc.string()))
  .map((pieces) => utf8(pieces.join('')))
const ascii = fc
  .array(fc.constantFrom('"iss":', '"exp":17', 'a', 'b', '{', '0'))
  .map((pieces) => utf8(pieces.join('')))

/** Writes bits as section 3.1.1 of RFC 1951 does: Huffman codes with their most significant bit first. */
function toStream(...codes: readonly string[]): Bytes {
  const bits = codes.join('')
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (const [at, bit] of [...bits].entries())
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (Number(bit) << (at % 8))
  return bytes
}
const FIXED_BLOCK = '110'
const LITERAL_0 = '00110000'
const LENGTH_3 = '0000001'
const LENGTH_258 = '11000101'
const DISTANCE_1 = '00000'
const END = '0000000'

describe('deflate', () => {
  test('node:zlib inflates the stream with the dictionary', () => {
    fc.assert(
      fc.property(fc.oneof(binary, claims), (bytes) => {
        expect(toBytes(inflateRawSync(deflate(bytes), { dictionary }))).toEqual(bytes)
      }),
    )
  })

  test('inflating returns the bytes', () => {
    fc.assert(
      fc.property(fc.oneof(binary, claims), (bytes) => {
        expect(toBytes(inflate(deflate(bytes), bytes.length))).toEqual(bytes)
      }),
    )
  })

  test('inflates the streams of node:zlib with fixed codes', () => {
    const strategy = constants.Z_FIXED
    fc.assert(
      fc.property(ascii, fc.constantFrom(1, 6, 9), (bytes, level) => {
        expect(
          toBytes(inflate(deflateRawSync(bytes, { dictionary, level, strategy }), bytes.length)),
        ).toEqual(bytes)
      }),
    )
  })

  test('works without a dictionary, for no bytes, for long runs and up to 65,535 bytes', () => {
    const none = createDeflate(new Uint8Array())
    for (const bytes of [utf8(''), utf8('a'), utf8('a'.repeat(65_535)), utf8(incompressible(65_535))]) {
      const stream = none.deflate(bytes)
      expect(inflateRawSync(stream).equals(bytes)).toBe(true)
      expect(Buffer.from(none.inflate(stream, bytes.length)).equals(bytes)).toBe(true)
    }
    expect(none.deflate(utf8('a'.repeat(65_535))).length).toBeLessThan(500)
    expect(() => none.deflate(utf8('a'.repeat(65_536)))).toThrow(RangeError)
  })

  test('the result does not depend on earlier calls', () => {
    fc.assert(
      fc.property(fc.array(claims, { maxLength: 4 }), claims, (earlier, bytes) => {
        for (const each of earlier) deflate(each)
        expect(deflate(bytes)).toEqual(createDeflate(dictionary).deflate(bytes))
      }),
    )
  })

  test('refers no further back than 32,768 bytes', () => {
    const start = incompressible(100)
    for (const distance of [32_767, 32_768, 32_769, 40_000]) {
      const bytes = utf8(start + incompressible(distance).slice(100) + start)
      expect(inflateRawSync(deflate(bytes), { dictionary }).equals(bytes), `${distance}`).toBe(true)
    }
  })
})

describe('an invalid stream', () => {
  const bytes = utf8('{"iss":"https://idp.example.com","exp":1700000000,"scope":"openid profile email"}')
  const stream = deflate(bytes)

  test('that is truncated, extended, or of another length is rejected at the end', () => {
    for (let length = 0; length < stream.length; length++)
      expect(() => inflate(stream.slice(0, length), bytes.length), `${length}`).toThrow(RangeError)
    expect(() => inflate(new Uint8Array([...stream, 0]), bytes.length)).toThrow(RangeError)
    for (const length of [0, bytes.length - 1, bytes.length + 1, 60_000])
      expect(() => inflate(stream, length), `${length}`).toThrow(RangeError)
  })

  test.each([
    ['a stored block', toStream('100', '00000', '0'.repeat(16), '1'.repeat(16))],
    ['dynamic codes', toStream('101', LITERAL_0, END)],
    ['a block that is not the last', toStream('010', LITERAL_0, END)],
    ['no end', toStream(FIXED_BLOCK, LITERAL_0)],
    ['a length code that does not exist', toStream(FIXED_BLOCK, LITERAL_0, '11000110', DISTANCE_1, END)],
    ['a distance code that does not exist', toStream(FIXED_BLOCK, LITERAL_0, LENGTH_3, '11110', END)],
    ['a distance before the start', toStream(FIXED_BLOCK, LITERAL_0, LENGTH_3, '00001', END)],
    ['more bytes than its length', toStream(FIXED_BLOCK, LITERAL_0, LENGTH_258, DISTANCE_1, END)],
  ])('with %s is rejected', (_, invalid) => {
    const none = createDeflate(new Uint8Array())
    expect(() => none.inflate(invalid, 4)).toThrow(RangeError)
    const valid = toStream(FIXED_BLOCK, LITERAL_0, LENGTH_3, DISTANCE_1, END)
    expect(toBytes(none.inflate(valid, 4))).toEqual(new Uint8Array(4))
  })

  test('ends with an error or with its length, whatever it contains', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(2000), (invalid, length) => {
        invalid[0] = ((invalid[0] ?? 0) & ~7) | 3
        try {
          expect(inflate(invalid, length)).toHaveLength(length)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })

  test('that inflates to megabytes uses no more memory than the given length', () => {
    const bomb = toStream(
      FIXED_BLOCK,
      LITERAL_0,
      ...Array.from({ length: 10_000 }, () => LENGTH_258 + DISTANCE_1),
      END,
    )
    expect(() => inflate(bomb, 1000)).toThrow(RangeError)
    expect(() => inflate(bomb, 65_536)).toThrow(RangeError)
  })
})

test('[Q4] a search compares a few positions only, however many there are with the same first bytes', () => {
  const none = createDeflate(new Uint8Array())
  const long = 'abcdefghijklmnopqrstuvwxyz0123456789'
  /** The length of a stream in which `long` occurs twice, and between that its first three bytes at each position. */
  const lengthAfter = (decoys: number): number => {
    const triples = Array.from({ length: long.length - 2 }, (_, at) => long.slice(at, at + 3))
    const others = Array.from({ length: decoys }, (_, at) =>
      triples.map((triple) => triple + 'ABCDEFGHIJ'[at]),
    )
    return none.deflate(Buffer.from([long, ...others.flat(), long].join(''))).length
  }
  const asMatch = lengthAfter(6) - lengthAfter(5)
  expect(Math.abs(lengthAfter(7) - lengthAfter(6) - asMatch)).toBeLessThan(10)
  expect(lengthAfter(8) - lengthAfter(7) - asMatch).toBeGreaterThan(10)
})
