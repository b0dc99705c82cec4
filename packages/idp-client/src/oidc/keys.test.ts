import type { SigningOptions } from 'node:crypto'
import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { JWK } from 'jose'
import { CompactSign, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { text, utf8 } from '../lib/utf8.ts'
import { readKeySet, verifyWith } from './signed-token.ts'

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
  const given = { algorithm: 'ES256', keyId: undefined, ...header }
  const result = await verifyWith(readKeySet(JSON.stringify({ keys })), token, given)
  return typeof result === 'string' ? result : text(result)
}

describe('verifyWith', () => {
  it.each(ALGORITHMS)('%s: returns the payload of a valid signature', async (algorithm) => {
    const token = await signed(algorithm)
    expect(await outcome([pairOf(algorithm).jwk], token, { algorithm })).toBe('{"sub":"alice"}')
  })

  it.each(ALGORITHMS)('%s: imports a key once', async (algorithm) => {
    const keySet = readKeySet(JSON.stringify({ keys: [pairOf(algorithm).jwk] }))
    const token = await signed(algorithm)
    const importKey = vi.spyOn(crypto.subtle, 'importKey')
    for (let round = 0; round < 3; round++) await verifyWith(keySet, token, { algorithm, keyId: undefined })
    expect(importKey).toHaveBeenCalledTimes(1)
    importKey.mockRestore()
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
    // The bits of the last character that no byte uses.
    const other = signature.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1))
    expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(signature, 'base64url'))
    for (const invalid of [
      other,
      `${signature}=`,
      `${signature}==`,
      `${signature}.`,
      `${signature}.AAAA`,
      `\u00a7${signature}`,
      'A',
    ])
      expect(await outcome([jwk], `${header}.${payload}.${invalid}`, {}), invalid).toBe('unverifiable')
    expect(await outcome([jwk], `${header}.${payload}=.${signature}`, {})).toBe('unverifiable')
    expect(await outcome([jwk], `${header}.${payload}`, {})).toBe('unverifiable')
  })
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const ed25519 = generateKeyPairSync('ed25519')

const ieee = { dsaEncoding: 'ieee-p1363' } as const
const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })

type Pair = typeof rsa
type Signer = readonly [algorithm: string, pair: Pair, hash: string | null, options: SigningOptions]

/* Signed by node:crypto with explicit parameters, independent of `jose`. */
const signers: readonly Signer[] = [
  ['RS256', rsa, 'sha256', {}],
  ['RS384', rsa, 'sha384', {}],
  ['RS512', rsa, 'sha512', {}],
  ['PS256', rsa, 'sha256', pss(32)],
  ['PS384', rsa, 'sha384', pss(48)],
  ['PS512', rsa, 'sha512', pss(64)],
  ['ES256', p256, 'sha256', ieee],
  ['ES384', p384, 'sha384', ieee],
  ['ES512', p521, 'sha512', ieee],
  ['EdDSA', ed25519, null, {}],
  ['Ed25519', ed25519, null, {}],
]

const toJwk = ({ publicKey }: Pair): object => publicKey.export({ format: 'jwk' })

const inputOf = (alg: string, claims = '{"sub":"alice"}'): string =>
  [JSON.stringify({ alg }), claims].map((part) => Buffer.from(part).toString('base64url')).join('.')

/** Signs with the parameters of one algorithm; the header names `alg`, which may be another. */
function signatureOf([algorithm, { privateKey }, hash, options]: Signer, alg = algorithm): Buffer {
  return sign(hash, Buffer.from(inputOf(alg)), { key: privateKey, ...options })
}

const outcomeOf = (jwk: object, alg: string, signature: Uint8Array, input = inputOf(alg)): Promise<string> =>
  outcome([jwk], `${input}.${Buffer.from(signature).toString('base64url')}`, { algorithm: alg })

describe('signatures', () => {
  it.each(signers)('%s: accepts a valid one, and rejects other data and other bytes', async (...signer) => {
    const [algorithm, pair] = signer
    const jwk = toJwk(pair)
    const signature = signatureOf(signer)
    expect(await outcomeOf(jwk, algorithm, signature)).toBe('{"sub":"alice"}')
    expect(await outcomeOf(jwk, algorithm, signature, inputOf(algorithm, '{"sub":"bob"}'))).toBe('mismatch')
    const changed = [0, signature.length >> 1, signature.length - 1].map((place) =>
      signature.map((byte, index) => (index === place ? byte ^ 1 : byte)),
    )
    const others = [
      new Uint8Array(),
      // Not without the first byte: OpenSSL verifies RSA-PSS as a number, which a leading zero does not change.
      signature.subarray(0, -1),
      new Uint8Array([...signature, 0]),
      new Uint8Array(signature.length),
      ...changed,
    ]
    for (const other of others) expect(await outcomeOf(jwk, algorithm, other)).toBe('mismatch')
  })

  it.each(signers)('%s: rejects one of another key of the same type', async (...signer) => {
    const [algorithm, pair] = signer
    const others = {
      rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
      ec: () => generateKeyPairSync('ec', pair.publicKey.asymmetricKeyDetails as { namedCurve: string }),
      ed25519: () => generateKeyPairSync('ed25519'),
    }
    const create = others[pair.publicKey.asymmetricKeyType as keyof typeof others]
    expect(await outcomeOf(toJwk(create()), algorithm, signatureOf(signer))).toBe('mismatch')
  })

  it.each(signers)('%s: rejects one of another algorithm with the same key', async (...signer) => {
    const [algorithm, pair] = signer
    for (const [other, otherPair] of signers) {
      const isSame = other.startsWith('Ed') && algorithm.startsWith('Ed')
      if (otherPair !== pair || other === algorithm || isSame) continue
      expect(await outcomeOf(toJwk(pair), other, signatureOf(signer, other)), other).toBe('mismatch')
    }
  })

  it('accepts the examples of RFC 7515 A.3 and RFC 8037 A.4', async () => {
    const ec = {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    }
    const ecToken =
      'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q'
    expect(await outcome([ec], ecToken, {})).toMatch(/"iss":"joe"/)
    const okp = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
    const okpToken =
      'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg'
    expect(await outcome([okp], okpToken, { algorithm: 'EdDSA' })).toBe('Example of Ed25519 signing')
  })

  it('accepts ECDSA only as two numbers of fixed length, not as ASN.1', async () => {
    const signature = signatureOf(['ES256', p256, 'sha256', { dsaEncoding: 'der' }])
    expect(await outcomeOf(toJwk(p256), 'ES256', signature)).toBe('mismatch')
  })

  it('accepts RSA-PSS only with a salt as long as the hash', async () => {
    for (const [algorithm, hash, length] of [
      ['PS256', 'sha256', 32],
      ['PS384', 'sha384', 48],
      ['PS512', 'sha512', 64],
    ] as const) {
      for (const salt of [0, 20, length - 1, length + 1, 100]) {
        const signature = signatureOf([algorithm, rsa, hash, pss(salt)])
        expect(await outcomeOf(toJwk(rsa), algorithm, signature), `${salt}`).toBe('mismatch')
      }
    }
  })

  it('accepts no HMAC with the public key as its secret', async () => {
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
    for (const secret of [pem, rsa.publicKey.export({ type: 'spki', format: 'der' })]) {
      const mac = createHmac('sha256', secret).update(inputOf('RS256')).digest()
      expect(await outcomeOf(toJwk(rsa), 'RS256', mac)).toBe('mismatch')
    }
  })

  it('accepts no RSA key of less than 2048 bits', async () => {
    for (const modulusLength of [1024, 2040]) {
      const weak = generateKeyPairSync('rsa', { modulusLength })
      for (const algorithm of ['RS256', 'RS512'] as const) {
        const signature = signatureOf([algorithm, weak, `sha${algorithm.slice(2)}`, {}])
        expect(await outcomeOf(toJwk(weak), algorithm, signature)).toBe('unverifiable')
      }
    }
  })

  it('accepts no point outside of the curve, no other curve and no incomplete key', async () => {
    const { e, n, x, y } = { ...toJwk(p256), ...toJwk(rsa) } as Record<string, unknown>
    const invalid: readonly (readonly [algorithm: string, jwk: object])[] = [
      ['ES256', { kty: 'EC', crv: 'P-256', x, y: x }],
      ['ES256', { kty: 'EC', crv: 'P-256', x }],
      ['ES256', { kty: 'EC', crv: 'P-256', x: 1, y: [] }],
      ['ES384', { kty: 'EC', crv: 'P-384', x, y }],
      ['RS256', { kty: 'RSA', n }],
      ['RS256', { kty: 'RSA', e }],
      ['RS256', { kty: 'RSA', e, n: '' }],
      ['Ed25519', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
      ['Ed25519', { kty: 'OKP', crv: 'Ed25519' }],
    ]
    for (const [algorithm, jwk] of invalid)
      expect(await outcomeOf(jwk, algorithm, new Uint8Array(64)), JSON.stringify(jwk)).toBe('unverifiable')
  })

  it('never throws, whatever the key and the signature contain', async () => {
    const member = fc.option(fc.oneof(fc.jsonValue(), fc.base64String()), { nil: undefined })
    const jwks = fc.record({
      kty: fc.constantFrom('RSA', 'EC', 'OKP', 'oct'),
      crv: fc.oneof(member, fc.constantFrom('P-256', 'P-384', 'P-521', 'Ed25519')),
      e: member,
      n: member,
      x: member,
      y: member,
    })
    const algorithms = fc.constantFrom(...signers.map(([algorithm]) => algorithm))
    await fc.assert(
      fc.asyncProperty(algorithms, jwks, fc.uint8Array({ maxLength: 80 }), async (algorithm, jwk, bytes) => {
        expect(await outcomeOf(jwk, algorithm, bytes)).toMatch(/^(?:unknown-key|mismatch|unverifiable)$/)
        expect(await outcomeOf(toJwk(p256), 'ES256', bytes)).toBe('mismatch')
      }),
    )
  })
})
