import type { KeyObject } from 'node:crypto'
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { SECRET } from '../support/engine.ts'
import { rejectionOf } from '../support/provider-engine.ts'

/** The constructor with these options beside those that every application has. */
async function construct(options: object): Promise<IdpClient> {
  const complete: IdpClientOptions = {
    domain: 'idp.example',
    clientId: 'app',
    secret: SECRET,
    appBaseUrl: 'https://app.example',
  }
  return new IdpClient({ ...complete, ...options })
}

/** The options that take a private key. */
const places = [
  {
    place: 'clientAssertionSigningKey',
    algorithm: 'clientAssertionSigningAlg',
    options: (key: unknown, alg?: string) => ({
      clientAssertionSigningKey: key,
      clientAssertionSigningAlg: alg,
    }),
  },
  {
    place: 'requestObject.key',
    algorithm: 'requestObject.alg',
    options: (key: unknown, alg?: string) => ({ clientSecret: 's3cret', requestObject: { key, alg } }),
  },
]

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey
const rsa2048 = rsa(2048)
const rsa2040 = rsa(2040)
const toPem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1' = 'pkcs8') =>
  key.export({ type, format: 'pem' }).toString()

const RSA = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }

async function privateKey(
  algorithm: RsaHashedKeyGenParams | EcKeyGenParams,
  usages: KeyUsage[],
): Promise<CryptoKey> {
  return (await crypto.subtle.generateKey(algorithm, false, usages)).privateKey
}

const FORM = 'must be a PKCS#8 key (-----BEGIN PRIVATE KEY-----)'
const TYPE = 'must hold an RSA, an elliptic curve (P-256, P-384, P-521) or an Ed25519 key'
const USE = "must be a private key with the usage 'sign'"
const SHORT = 'must be an RSA key of at least 2048 bits'
const KIND = 'must be a CryptoKey, or a PKCS#8 key as PEM text'

describe.each(places)('$place', ({ place, algorithm, options }) => {
  test.each<[string, string, () => unknown]>([
    ['a SEC 1 key', FORM, () => toPem(ec('P-256'), 'sec1')],
    ['a PKCS#1 key', FORM, () => toPem(rsa2048, 'pkcs1')],
    ['a key of the curve secp256k1', TYPE, () => toPem(ec('secp256k1'))],
    ['a key for key agreement', TYPE, () => toPem(generateKeyPairSync('x25519').privateKey)],
    ['an Ed448 key', TYPE, () => toPem(generateKeyPairSync('ed448').privateKey)],
    ['an RSA key of 1024 bits', SHORT, () => toPem(rsa(1024))],
    ['an RSA key of 2040 bits', SHORT, () => toPem(rsa2040)],
    [
      'a CryptoKey of 1024 bits',
      SHORT,
      () => privateKey({ ...RSA, name: 'RSA-PSS', modulusLength: 1024 }, ['sign']),
    ],
    [
      'a CryptoKey that derives',
      USE,
      () => privateKey({ name: 'ECDH', namedCurve: 'P-256' }, ['deriveBits']),
    ],
    ['a CryptoKey that decrypts', USE, () => privateKey({ ...RSA, name: 'RSA-OAEP' }, ['decrypt'])],
    [
      'a CryptoKey with SHA-1',
      USE,
      () => privateKey({ ...RSA, name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }, ['sign']),
    ],
    [
      'a symmetric CryptoKey',
      USE,
      () => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']),
    ],
    ['a JSON Web Key', KIND, () => ec('P-256').export({ format: 'jwk' })],
    ['a KeyObject', KIND, () => ec('P-256')],
  ])('%s is an error of the configuration, with the remedy', async (_, message, create) => {
    expect(await rejectionOf(construct(options(await create())))).toMatchObject({
      name: 'InvalidConfigurationError',
      remedy: 'INVALID_CONFIGURATION',
      message: expect.stringContaining(`${place} ${message}`),
    })
  })

  test.each<[string, string, string, () => unknown]>([
    ['ES256', 'P-384', 'ES384', () => toPem(ec('P-384'))],
    ['PS256', 'P-256', 'ES256', () => toPem(ec('P-256'))],
    ['ES256', 'RSA', 'RS256, PS256', () => toPem(rsa2048)],
    ['EdDSA', 'P-521', 'ES512', () => toPem(ec('P-521'))],
    ['PS256', 'PS384', 'PS384', () => privateKey({ ...RSA, name: 'RSA-PSS', hash: 'SHA-384' }, ['sign'])],
  ])('%s with a key for %s names what the key signs with: %s', async (alg, _, names, create) => {
    expect(await rejectionOf(construct(options(await create(), alg)))).toMatchObject({
      name: 'InvalidConfigurationError',
      message: expect.stringContaining(`${algorithm} does not fit ${place}, which signs with ${names}`),
    })
  })

  test('an RSA key of 2048 bits is accepted', async () => {
    expect(await construct(options(toPem(rsa2048), 'PS256'))).toBeInstanceOf(IdpClient)
  })
})
