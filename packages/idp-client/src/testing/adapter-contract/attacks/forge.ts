import { fromBase64url, toBase64url } from '../../../crypto/base64url.ts'
import { hashToken } from '../../../crypto/random.ts'
import { text, utf8 } from '../../../lib/utf8.ts'

/** Signatures that no library would make. */

/** Claims, or members of a protected header; those that are `undefined` are left out. */
export type Members = Readonly<Record<string, unknown>>

/** A key pair with the public key as JWK. */
export interface Key {
  readonly pair: CryptoKeyPair
  readonly jwk: Members
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
}
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

async function generateKey(algorithm: EcKeyGenParams | RsaHashedKeyGenParams): Promise<Key> {
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const { crv, e, kty, n, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  return { pair, jwk: { crv, e, kty, n, x, y } }
}

/** Returns a new key for ES256. */
export const newProofKey = (): Promise<Key> => generateKey(ECDSA)

let foreign: Promise<Key> | undefined

/** Returns a key for RS256 that is not the provider's: the same each time, because it takes long to generate. */
export function foreignKey(): Promise<Key> {
  foreign ??= generateKey(RSA)
  return foreign
}

/** Returns the key of HS256 with these bytes. */
export const hmacKey = (bytes: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', utf8(bytes), HMAC, false, ['sign'])

export const encode = (value: unknown): string => toBase64url(utf8(JSON.stringify(value)))

/** Decodes a part of a token that is known to be valid. */
export function decode(part = ''): Members {
  return JSON.parse(text(fromBase64url(part) ?? new Uint8Array())) as Members
}

/** Signs any header and claims. */
export async function sign(header: Members, claims: Members, key: CryptoKey): Promise<string> {
  const input = `${encode(header)}.${encode(claims)}`
  const { name } = key.algorithm
  const signature = await crypto.subtle.sign({ name, hash: 'SHA-256' }, key, utf8(input))
  return `${input}.${toBase64url(new Uint8Array(signature))}`
}

/** Returns the thumbprint of an elliptic curve key (RFC 7638), as in `cnf.jkt`. */
export async function thumbprint({ jwk: { crv, kty, x, y } }: Key): Promise<string> {
  return hashToken(JSON.stringify({ crv, kty, x, y }), 32)
}

/** Returns a public key in the form in which servers often have it as text. */
export async function toPem(jwk: Members): Promise<string> {
  const key = await crypto.subtle.importKey('jwk', jwk, RSA, true, ['verify'])
  const der = new Uint8Array(await crypto.subtle.exportKey('spki', key))
  const lines = btoa(String.fromCharCode(...der)).match(/.{1,64}/g) ?? []
  return ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----', ''].join('\n')
}
