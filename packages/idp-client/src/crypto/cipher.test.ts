import { describe, expect, it } from 'vitest'
import { fc, runsDividedBy } from '../../test/support/fast-check.ts'
import { utf8 } from '../lib/utf8.ts'
import * as node from './cipher.node.ts'
import type { Cipher, HashName } from './cipher.ts'
import * as web from './cipher.web.ts'

const ciphers: readonly Cipher[] = [node, web]
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const binary = (maxLength = 300) => fc.uint8Array({ maxLength }).map((bytes) => new Uint8Array(bytes))
const HASHES_OF_ABC = {
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  sha384: 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  sha512:
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
} satisfies Record<HashName, string>
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe.each(ciphers)('cipher of $kind', (cipher) => {
  it('hashes like FIPS 180-4', async () => {
    for (const [name, hash] of Object.entries(HASHES_OF_ABC))
      for (const data of [utf8('abc'), 'abc'])
        expect(hex(await cipher.digest(name as HashName, data))).toBe(hash)
    for (const text of ['ä€😀', '\ud800'])
      expect(hex(await cipher.digest('sha256', text))).toBe(hex(await cipher.digest('sha256', utf8(text))))
  })

  it('derives keys like RFC 5869, from text and without a salt', async () => {
    // Case 3 of its appendix has binary input; 22 times 0x0b is also text.
    const bytes = await cipher.deriveBytes('\u000b'.repeat(22), '', 42)
    expect(hex(bytes)).toBe(
      '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
    )
  })

  it('returns null for a changed or truncated tag, a changed ciphertext, other associated data and another IV', async () => {
    const key = await cipher.deriveKey('a secret', 'test')
    const iv = cipher.randomBytes(12)
    const aad = utf8('aad')
    const { ciphertext, tag } = await cipher.encrypt(key, iv, aad, utf8('plain'))
    expect([ciphertext.length, tag.length]).toEqual([5, 16])
    const open = async (change: object, associated = aad, vector = iv): Promise<string | null> => {
      const bytes = await cipher.decrypt(key, vector, associated, { ciphertext, tag, ...change })
      return bytes && hex(bytes)
    }
    expect(await open({})).toBe(hex(utf8('plain')))
    const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
      bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))
    for (let at = 0; at < 16; at++) expect(await open({ tag: flipped(tag, at) })).toBeNull()
    for (let at = 0; at < 5; at++) expect(await open({ ciphertext: flipped(ciphertext, at) })).toBeNull()
    for (const length of [0, 4, 12, 15]) expect(await open({ tag: tag.subarray(0, length) })).toBeNull()
    expect(await open({ tag: new Uint8Array([...tag, 0]) })).toBeNull()
    const moved = { ciphertext: new Uint8Array([...ciphertext, tag[0] ?? 0]), tag: tag.subarray(1) }
    expect(await open(moved)).toBeNull()
    expect(await open({}, utf8('AAD'))).toBeNull()
    expect(await open({}, aad, cipher.randomBytes(12))).toBeNull()
    expect(await open({}, aad, new Uint8Array())).toBeNull()
  })

  it('encodes like Node, and decodes what it encoded', () => {
    fc.assert(
      fc.property(binary(), (bytes) => {
        const text = cipher.toBase64url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(hex(cipher.fromBase64url(text) ?? utf8('null'))).toBe(hex(bytes))
      }),
    )
  })

  it('returns random bytes that are never returned again, whatever the length and whatever happens to them', () => {
    const seen = new Set<string>()
    let drawn = 0
    for (let round = 0; round < 400; round++) {
      for (const length of [12, 16, 32, 64, 65, 33]) {
        const bytes = cipher.randomBytes(length)
        expect(bytes).toHaveLength(length)
        // 64 random bits: no two of these blocks are equal by chance.
        for (let at = 0; at + 8 <= length; at += 8) {
          seen.add(hex(bytes.subarray(at, at + 8)))
          drawn += 1
        }
        new Uint8Array(bytes.buffer).fill(0)
      }
    }
    expect(seen.size).toBe(drawn)
    expect(cipher.randomBytes(0)).toHaveLength(0)
  })

  it('encodes a view of a larger buffer, not the whole buffer', () => {
    const view = new Uint8Array([1, 2, 3, 4, 5, 6]).subarray(2, 5)
    expect(cipher.toBase64url(view)).toBe('AwQF')
  })

  it('decodes only canonical text', () => {
    for (const text of [
      'A',
      'AA==',
      'AA=',
      'A A',
      'AB',
      'AAB',
      'AA+A',
      'AA/A',
      'AAA\n',
      '\u0141AAA',
      'AA.A',
      '\u{1F600}AA',
    ]) {
      expect(cipher.fromBase64url(text), JSON.stringify(text)).toBeNull()
    }
    expect(cipher.fromBase64url('')).toHaveLength(0)
    const character = fc.constantFrom(...BASE64URL, '+', '/', '=', ' ', '\u0141')
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        const bytes = cipher.fromBase64url(text)
        if (bytes) expect(cipher.toBase64url(bytes)).toBe(text)
        else expect(Buffer.from(text, 'base64url').toString('base64url')).not.toBe(text)
      }),
    )
  })

  it('encrypts megabytes', () => {
    const bytes = cipher.randomBytes(3_000_001)
    expect(bytes.subarray(-64).some((byte) => byte !== 0)).toBe(true)
    const decoded = cipher.fromBase64url(cipher.toBase64url(bytes))
    expect(Buffer.compare(decoded ?? utf8(''), bytes)).toBe(0)
  })
})

describe('both ciphers', () => {
  it('decrypt the ciphertext of each other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), binary(2000), async (secret, info, plaintext) => {
        for (const [from, to] of [
          [node, web],
          [web, node],
        ] as const) {
          const iv = from.randomBytes(12)
          const sealed = await from.encrypt(await from.deriveKey(secret, info), iv, utf8(info), plaintext)
          const opened = await to.decrypt(await to.deriveKey(secret, info), iv, utf8(info), sealed)
          expect(hex(opened ?? utf8('null'))).toBe(hex(plaintext))
        }
      }),
      { numRuns: runsDividedBy(10) },
    )
  })
})
