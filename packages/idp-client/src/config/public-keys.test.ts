import { generateKeyPairSync } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { IdpClientOptions } from './options.ts'
import { resolveAdditionalKeys } from './public-keys.ts'

function resolveIt(additionalPublicKeys: unknown) {
  const problems: Problem[] = []
  const keys = resolveAdditionalKeys({
    options: { additionalPublicKeys } as IdpClientOptions,
    env: {},
    addIssue: (kind, message) => problems.push({ kind, message }),
  })
  return { keys, problems }
}

const coordinate = 'A'.repeat(43)
const ec = { kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate }
const rsa = { kty: 'RSA', n: 'A'.repeat(342), e: 'AQAB' }
const okp = { kty: 'OKP', crv: 'Ed25519', x: coordinate }

const rsaPem = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ type: 'spki', format: 'pem' }).toString()

test('without the option there is no key', () => {
  for (const absent of [undefined, null, '']) expect(resolveIt(absent)).toEqual({ keys: [], problems: [] })
})

test('public JWKs of each type and PEM text are accepted', async () => {
  const { publicKey } = await generateKeyPair('RS256', { extractable: true })
  const pem = await exportSPKI(publicKey)
  const keys = [ec, rsa, okp, { ...ec, kid: 'a', use: 'sig', alg: 'ES256' }, await exportJWK(publicKey)]
  expect(resolveIt([...keys, pem])).toEqual({ keys: [...keys, pem.trim()], problems: [] })
  expect(resolveIt([pem.replaceAll('\n', '\\n')]).keys).toEqual([pem.trim()])
})

test('points of each curve, larger RSA keys, and one key for two algorithms under one kid are accepted', () => {
  const curves = ['P-256', 'P-384', 'P-521'].map((namedCurve) =>
    generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' }),
  )
  const edwards = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const twice = [
    { ...rsa, kid: 'a', alg: 'RS256' },
    { ...rsa, kid: 'a', alg: 'PS256' },
  ]
  expect(resolveIt([...curves, edwards, ...twice, rsaPem(2048), rsaPem(3072)]).problems).toEqual([])
})

test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])(
  'a JWK with the private member %s is refused, and its value is not repeated',
  (name) => {
    const { keys, problems } = resolveIt([{ ...rsa, [name]: 'secret-value' }])
    expect(keys).toEqual([])
    expect(problems).toEqual([
      {
        kind: 'wrong-option',
        message: expect.stringMatching(/^additionalPublicKeys\[0\] must contain no member/),
      },
    ])
    expect(JSON.stringify(problems)).not.toContain('secret-value')
  },
)

test.each<[string, unknown, RegExp]>([
  ['no array', ec, /must be an array/],
  ['a JWK Set', { keys: [ec] }, /must be an array/],
  ['no key', [7], /\[0\] must be a public JWK, or PEM text/],
  ['a list in the list', [[ec]], /\[0\] must be a public JWK, or PEM text/],
  ['a symmetric key without its value', [{ kty: 'oct' }], /must be a public RSA key/],
  ['another curve', [{ ...ec, crv: 'secp256k1' }], /must be a public RSA key/],
  ['a curve for encryption', [{ ...okp, crv: 'X25519' }], /must be a public RSA key/],
  ['a short modulus', [{ ...rsa, n: 'A'.repeat(171) }], /2048 bits or more/],
  ['a missing coordinate', [{ ...ec, y: undefined }], /must be a public RSA key/],
  ['a member that is not base64url', [{ ...ec, x: '<x>' }], /must be a public RSA key/],
  ['a key for encryption', [ec, { ...ec, use: 'enc' }], /\[1\] must have the use 'sig' or none/],
  ['an algorithm of another type', [{ ...ec, alg: 'RS256' }], /must have an alg that fits the key: ES256/],
  ['an algorithm with a shared secret', [{ ...rsa, alg: 'HS256' }], /must have an alg that fits the key/],
  ['an empty kid', [{ ...ec, kid: '' }], /must have a kid that is a non-empty string/],
  ['a kid of another type', [{ ...ec, kid: 7 }], /must have a kid that is a non-empty string/],
  [
    'a private key as PEM text',
    ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'],
    /must be a public key/,
  ],
  ['an RSA key of 1024 bits as PEM text', [rsaPem(1024)], /2048 bits or more/],
  ['an RSA key of 2040 bits as PEM text', [rsaPem(2040)], /2048 bits or more/],
  ['a point with short coordinates', [{ ...ec, x: 'a', y: 'b' }], /must be a public RSA key/],
  ['a point of another curve', [{ ...ec, crv: 'P-384' }], /must be a public RSA key/],
  ['an Ed25519 key of another length', [{ ...okp, x: 'a' }], /must be a public RSA key/],
  [
    'two keys with one kid',
    [
      { ...ec, kid: 'a' },
      { ...rsa, kid: 'a' },
    ],
    /^additionalPublicKeys must give different keys different kids/,
  ],
  ['no PEM text', ['text'], /must be PEM text/],
  [
    'a PEM text of no known key',
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
    /must be a public RSA key/,
  ],
])('%s is refused', (_what, given, message) => {
  expect(resolveIt(given).problems).toEqual([
    { kind: 'wrong-option', message: expect.stringMatching(message) },
  ])
})
