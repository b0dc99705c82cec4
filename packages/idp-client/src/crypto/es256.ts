import { utf8 } from '../lib/utf8.ts'
import { toBase64url } from './base64url.ts'

/** ES256 (RFC 7518 section 3.4), the algorithm of DPoP proofs. */
const key = { name: 'ECDSA', namedCurve: 'P-256' }
const signature = { name: 'ECDSA', hash: 'SHA-256' }

/** The public key as proofs contain it. */
export interface Es256Jwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** Decodes PEM with any label. */
function toDer(pem: string): Uint8Array<ArrayBuffer> {
  const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, '')
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** Imports a PEM of SPKI; it can be exported again. Throws if it is not a P-256 key. */
export function importPublicPem(pem: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('spki', toDer(pem), key, true, ['verify'])
}

/** Imports a PEM of PKCS#8. Throws if it is not a P-256 key. */
export function importPrivatePem(pem: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', toDer(pem), key, false, ['sign'])
}

/** Exports a public key. Throws if it is not extractable or not a P-256 key. */
export async function exportPublicJwk(publicKey: CryptoKey): Promise<Es256Jwk> {
  const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  if (kty !== 'EC' || crv !== 'P-256' || x === undefined || y === undefined)
    throw new TypeError('The key is not a P-256 key.')
  return { kty, crv, x, y }
}

/** Returns whether a private and a public key form a pair. */
export async function areOnePair(privateKey: CryptoKey, jwk: Es256Jwk): Promise<boolean> {
  const verifier = await crypto.subtle.importKey('jwk', { ...jwk }, key, false, ['verify'])
  const sample = utf8('idp-client')
  const signed = await crypto.subtle.sign(signature, privateKey, sample)
  return crypto.subtle.verify(signature, verifier, signed, sample)
}

/** Returns the input of a thumbprint (RFC 7638 section 3): the required properties in the order of their names. */
export function toThumbprintInput({ crv, kty, x, y }: Es256Jwk): string {
  return JSON.stringify({ crv, kty, x, y })
}

/** Signs a JWT in compact form (RFC 7515 section 3.1). */
export async function signJwt(header: object, claims: object, privateKey: CryptoKey): Promise<string> {
  const [first, second] = [header, claims].map((part) => toBase64url(utf8(JSON.stringify(part))))
  const input = `${first}.${second}`
  const signed = await crypto.subtle.sign(signature, privateKey, utf8(input))
  return `${input}.${toBase64url(new Uint8Array(signed))}`
}
