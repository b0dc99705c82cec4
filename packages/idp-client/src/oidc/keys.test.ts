import type { JWK } from 'jose'
import { CompactSign, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import * as node from '../crypto/signature.node.ts'
import type { SignatureAlgorithm } from '../crypto/signature.ts'
import * as web from '../crypto/signature.web.ts'
import { text, utf8 } from '../lib/utf8.ts'
import { readKeySet, verifyWith } from './keys.ts'

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'] as const

/* One pair per kind of key: RS256 and PS256 share one, and so do the two names of Ed25519. */
const pairs = new Map<string, { readonly jwk: JWK; readonly privateKey: CryptoKey }>()

beforeAll(async () => {
  for (const algorithm of ALGORITHMS) {
    const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
    pairs.set(algorithm, { jwk: await exportJWK(publicKey), privateKey })
  }
})

function pairOf(algorithm: string): { readonly jwk: JWK; readonly privateKey: CryptoKey } {
  const pair = pairs.get(algorithm)
  if (!pair) throw new Error('test: no such key')
  return pair
}

function signed(algorithm: string, header: object = {}): Promise<string> {
  return new CompactSign(utf8('{"sub":"alice"}'))
    .setProtectedHeader({ alg: algorithm, ...header })
    .sign(pairOf(algorithm).privateKey)
}

async function outcome(keys: readonly object[], token: string, header: object): Promise<string> {
  const given = { algorithm: 'ES256' as SignatureAlgorithm, keyId: undefined, ...header }
  const result = await verifyWith(readKeySet(JSON.stringify({ keys })), token, given)
  return typeof result === 'string' ? result : text(result)
}

describe('verifyWith', () => {
  it.each(ALGORITHMS)('%s: returns the payload of a valid signature', async (algorithm) => {
    const token = await signed(algorithm)
    expect(await outcome([pairOf(algorithm).jwk], token, { algorithm })).toBe('{"sub":"alice"}')
  })

  it.each(ALGORITHMS)('%s: copies with different implementations share a key set', async (algorithm) => {
    const token = await signed(algorithm)
    const keySet = readKeySet(JSON.stringify({ keys: [pairOf(algorithm).jwk] }))
    for (const verifier of [node, web, node]) {
      const result = await verifyWith(keySet, token, { algorithm, keyId: undefined }, verifier)
      expect(typeof result === 'string' ? result : text(result)).toBe('{"sub":"alice"}')
    }
  })

  it('selects the same keys as jose', async () => {
    const token = await signed('ES256')
    const maybe = (...values: readonly unknown[]) => fc.constantFrom(undefined, ...values)
    const members = fc.record({
      key: fc.constantFrom(...ALGORITHMS),
      alg: maybe(...ALGORITHMS, 'HS256', 1),
      kid: maybe('k1', 'k2', '', 1),
      use: maybe('sig', 'enc', 1),
      key_ops: maybe(['verify'], ['sign'], ['verify', 'verify'], ['verify', 1], [], 'verify'),
      ext: maybe(true, false, 'true'),
    })
    const headers = fc.record({
      algorithm: fc.constantFrom(...ALGORITHMS),
      keyId: fc.constantFrom(undefined, 'k1', 'k2', '', 'other', null, 1),
    })
    await fc.assert(
      fc.asyncProperty(members, headers, async ({ key, ...rest }, { algorithm, keyId }) => {
        const keys = JSON.parse(JSON.stringify([{ ...pairOf(key).jwk, ...rest }]))
        const select = createLocalJWKSet({ keys })
        const header = keyId === undefined ? { alg: algorithm } : { alg: algorithm, kid: keyId as string }
        const isKnown = await select(header).then(
          () => true,
          ({ code }) => code !== 'ERR_JWKS_NO_MATCHING_KEY',
        )
        const result = await outcome(keys, token, { algorithm, keyId })
        expect(result !== 'unknown-key').toBe(isKnown)
      }),
    )
  })

  it('has no key for symmetric and unknown algorithms', async () => {
    const token = await signed('RS256')
    for (const algorithm of ['HS256', 'none', 'RS1', 'ES256K', '__proto__', 'constructor', ''])
      expect(await outcome([pairOf('RS256').jwk], token, { algorithm })).toBe('unknown-key')
  })

  it('tries each key without a kid, and skips keys that cannot be imported', async () => {
    const token = await signed('ES256')
    const { jwk: own } = pairOf('ES256')
    const other = await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)
    const broken = { ...own, x: own.y }
    const valid = '{"sub":"alice"}'
    expect(await outcome([broken, other, own], token, {})).toBe(valid)
    expect(await outcome([...Array(20).fill(broken), ...Array(7).fill(other), own], token, {})).toBe(valid)
    expect(await outcome([...Array(8).fill(other), own], token, {})).toBe('mismatch')
    expect(await outcome([broken, other], token, {})).toBe('mismatch')
    expect(await outcome([broken], token, {})).toBe('unverifiable')
  })

  it('distinguishes a wrong signature from one that cannot be decoded', async () => {
    const token = await signed('ES256')
    const [header, payload, signature = ''] = token.split('.')
    const { jwk } = pairOf('ES256')
    const swapped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
    expect(await outcome([jwk], `${header}.${payload}.${swapped}`, {})).toBe('mismatch')
    expect(await outcome([jwk], `${header}.${payload}.`, {})).toBe('mismatch')
    for (const invalid of [`${signature}=`, `${signature}.`, `${signature}.AAAA`, `\u00a7${signature}`, 'A'])
      expect(await outcome([jwk], `${header}.${payload}.${invalid}`, {}), invalid).toBe('unverifiable')
    expect(await outcome([jwk], `${header}.${payload}=.${signature}`, {})).toBe('unverifiable')
    expect(await outcome([jwk], `${header}.${payload}`, {})).toBe('unverifiable')
  })
})
