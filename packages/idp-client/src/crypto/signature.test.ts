import type { SigningOptions } from 'node:crypto'
import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import type { Bytes } from '../lib/utf8.ts'
import { utf8 } from '../lib/utf8.ts'
import * as node from './signature.node.ts'
import type { PublicJwk, SignatureAlgorithm, SignatureVerifier } from './signature.ts'
import * as web from './signature.web.ts'

const verifiers: readonly (readonly [string, SignatureVerifier])[] = [
  ['node:crypto', node],
  ['Web Crypto', web],
]
const data = utf8('eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9')

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const ed25519 = generateKeyPairSync('ed25519')

const ieee = { dsaEncoding: 'ieee-p1363' } as const
const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })

type Pair = typeof rsa
type Signer = readonly [SignatureAlgorithm, Pair, string | null, SigningOptions]

/* Signed by node:crypto with explicit parameters, independent of both implementations. */
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

const toJwk = ({ publicKey }: Pair): PublicJwk => ({ kty: '', ...publicKey.export({ format: 'jwk' }) })

function signWith({ privateKey }: Pair, hash: string | null, options: SigningOptions): Bytes {
  return new Uint8Array(sign(hash, data, { key: privateKey, ...options }))
}

const fromHex = (text: string): Bytes => new Uint8Array(Buffer.from(text, 'hex'))
const fromBase64 = (text: string): string => Buffer.from(text, 'base64url').toString('hex')

describe.each(verifiers)('signatures by %s', (_name, verifier) => {
  async function isValid(
    algorithm: SignatureAlgorithm,
    jwk: PublicJwk,
    signature: Bytes,
    signed = data,
  ): Promise<boolean | null> {
    const key = await verifier.importPublicKey(algorithm, jwk)
    return key && verifier.verifySignature(algorithm, key, signed, signature)
  }

  it.each(signers)(
    '%s: accepts a valid signature, and none of other data or other bytes',
    async (...signer) => {
      const [algorithm, pair, hash, options] = signer
      const jwk = toJwk(pair)
      const signature = signWith(pair, hash, options)
      expect(await isValid(algorithm, jwk, signature)).toBe(true)
      expect(await isValid(algorithm, jwk, signature, utf8('other data'))).toBe(false)
      expect(await isValid(algorithm, jwk, new Uint8Array())).toBe(false)
      // Not without the first byte: OpenSSL verifies RSA-PSS as a number, which a leading zero does not change.
      expect(await isValid(algorithm, jwk, signature.subarray(0, -1))).toBe(false)
      expect(await isValid(algorithm, jwk, new Uint8Array([...signature, 0]))).toBe(false)
      expect(await isValid(algorithm, jwk, new Uint8Array(signature.length))).toBe(false)
      for (const at of [0, signature.length >> 1, signature.length - 1]) {
        const changed = signature.map((byte, index) => (index === at ? byte ^ 1 : byte))
        expect(await isValid(algorithm, jwk, changed)).toBe(false)
      }
    },
  )

  it.each(signers)('%s: accepts no signature of another key of the same type', async (...signer) => {
    const [algorithm, pair, hash, options] = signer
    const others = {
      rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
      ec: () => generateKeyPairSync('ec', pair.publicKey.asymmetricKeyDetails as { namedCurve: string }),
      ed25519: () => generateKeyPairSync('ed25519'),
    }
    const create = others[pair.publicKey.asymmetricKeyType as keyof typeof others]
    expect(await isValid(algorithm, toJwk(create()), signWith(pair, hash, options))).toBe(false)
  })

  it.each(signers)('%s: accepts no signature of another algorithm with the same key', async (...signer) => {
    const [algorithm, pair, hash, options] = signer
    for (const [other, otherPair] of signers) {
      const isSame = other.startsWith('Ed') && algorithm.startsWith('Ed')
      if (otherPair !== pair || other === algorithm || isSame) continue
      expect(await isValid(other, toJwk(pair), signWith(pair, hash, options)), other).toBe(false)
    }
  })

  it('accepts the examples of RFC 7515 A.3 and RFC 8037 A.4, and not with another algorithm', async () => {
    const ec = {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    }
    const ecData =
      'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'
    const ecSignature = fromHex(
      fromBase64('DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q'),
    )
    expect(await isValid('ES256', ec, ecSignature, utf8(ecData))).toBe(true)
    const okp = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
    const okpData = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc'
    const okpSignature = fromHex(
      fromBase64('hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg'),
    )
    expect(await isValid('EdDSA', okp, okpSignature, utf8(okpData))).toBe(true)
    expect(await isValid('Ed25519', okp, okpSignature, utf8(okpData))).toBe(true)
  })

  it('accepts ECDSA signatures only as two numbers of fixed length, not as ASN.1', async () => {
    const signature = signWith(p256, 'sha256', { dsaEncoding: 'der' })
    expect(await isValid('ES256', toJwk(p256), signature)).toBe(false)
  })

  it('accepts RSA-PSS only with a salt as long as the hash', async () => {
    for (const [algorithm, hash, length] of [
      ['PS256', 'sha256', 32],
      ['PS384', 'sha384', 48],
      ['PS512', 'sha512', 64],
    ] as const) {
      for (const salt of [0, 20, length - 1, length + 1, 100])
        expect(await isValid(algorithm, toJwk(rsa), signWith(rsa, hash, pss(salt))), `${salt}`).toBe(false)
    }
  })

  it('accepts no HMAC with the public key as its secret', async () => {
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
    for (const secret of [pem, rsa.publicKey.export({ type: 'spki', format: 'der' })]) {
      const mac = new Uint8Array(createHmac('sha256', secret).update(data).digest())
      expect(await isValid('RS256', toJwk(rsa), mac)).toBe(false)
    }
  })

  it('imports no RSA key of less than 2048 bits', async () => {
    for (const modulusLength of [1024, 2040]) {
      const weak = generateKeyPairSync('rsa', { modulusLength })
      for (const algorithm of ['RS256', 'PS256', 'RS512'] as const)
        expect(await verifier.importPublicKey(algorithm, toJwk(weak))).toBeNull()
    }
  })

  it('imports no point outside of the curve, no other curve and no incomplete key', async () => {
    const { x, y } = toJwk(p256)
    const { e, n } = toJwk(rsa)
    const invalid: readonly (readonly [SignatureAlgorithm, PublicJwk])[] = [
      ['ES256', { kty: 'EC', crv: 'P-256', x, y: x }],
      ['ES256', { kty: 'EC', crv: 'P-384', x, y }],
      ['ES256', { kty: 'EC', crv: 'P-000', x, y }],
      ['ES256', { kty: 'EC', crv: 'P-256', x }],
      ['ES256', { kty: 'EC', crv: 'P-256', x: 1, y: [] }],
      ['RS256', { kty: 'RSA', n }],
      ['RS256', { kty: 'RSA', e }],
      ['RS256', { kty: 'RSA', e, n: '' }],
      ['Ed25519', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
      ['Ed25519', { kty: 'OKP', crv: 'Ed25519' }],
    ]
    for (const [algorithm, jwk] of invalid)
      expect(await verifier.importPublicKey(algorithm, jwk), JSON.stringify(jwk)).toBeNull()
  })

  it('never throws, whatever the key and the signature contain', async () => {
    const member = fc.option(fc.oneof(fc.jsonValue(), fc.base64String()), { nil: undefined })
    const jwks = fc.record({
      kty: fc.constantFrom('RSA', 'EC', 'OKP', 'oct'),
      crv: member,
      e: member,
      n: member,
      x: member,
      y: member,
    })
    const algorithms = fc.constantFrom(...signers.map(([algorithm]) => algorithm))
    const key = await verifier.importPublicKey('ES256', toJwk(p256))
    await fc.assert(
      fc.asyncProperty(algorithms, jwks, fc.uint8Array({ maxLength: 80 }), async (algorithm, jwk, bytes) => {
        await verifier.importPublicKey(algorithm, jwk)
        expect(key && (await verifier.verifySignature('ES256', key, data, new Uint8Array(bytes)))).toBe(false)
      }),
    )
  })
})
