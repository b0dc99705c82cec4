import { decode, encode } from 'jose/base64url'
import type { Bytes } from '../lib/utf8.ts'
import { concatenate, utf8 } from '../lib/utf8.ts'
import type { CipherKey, HashName, Sealed } from './cipher.ts'

const ALGORITHM = 'AES-GCM'
const TAG_BYTES = 16
/* Maximum number of bytes per call of `getRandomValues`. */
const RANDOM_QUOTA = 65_536

export const kind = 'web'

function hkdf(info: string): HkdfParams {
  return { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8(info) }
}

function importSecret(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveBits', 'deriveKey'])
}

export async function deriveBytes(secret: string, info: string, length: number): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf(info), await importSecret(secret), length * 8))
}

export async function deriveKey(secret: string, info: string): Promise<CipherKey> {
  const material = await importSecret(secret)
  const target = { name: ALGORITHM, length: 256 }
  const key = await crypto.subtle.deriveKey(hkdf(info), material, target, false, ['encrypt', 'decrypt'])
  return key as unknown as CipherKey
}

function parameters(iv: Bytes, aad: Bytes): AesGcmParams {
  return { name: ALGORITHM, iv, additionalData: aad, tagLength: TAG_BYTES * 8 }
}

export async function encrypt(key: CipherKey, iv: Bytes, aad: Bytes, plaintext: Bytes): Promise<Sealed> {
  const joined = await crypto.subtle.encrypt(parameters(iv, aad), key as unknown as CryptoKey, plaintext)
  const end = joined.byteLength - TAG_BYTES
  return { ciphertext: new Uint8Array(joined, 0, end), tag: new Uint8Array(joined, end) }
}

export async function decrypt(
  key: CipherKey,
  iv: Bytes,
  aad: Bytes,
  { ciphertext, tag }: Sealed,
): Promise<Bytes | null> {
  // Ciphertext and tag are joined here, so only this check fixes the border between them.
  if (tag.length !== TAG_BYTES) return null
  const { bytes: joined } = concatenate([ciphertext, tag])
  try {
    return new Uint8Array(
      await crypto.subtle.decrypt(parameters(iv, aad), key as unknown as CryptoKey, joined),
    )
  } catch {
    return null
  }
}

export async function digest(name: HashName, data: Bytes | string): Promise<Bytes> {
  const bytes = typeof data === 'string' ? utf8(data) : data
  return new Uint8Array(await crypto.subtle.digest(name.replace('sha', 'SHA-'), bytes))
}

export function toBase64url(bytes: Uint8Array): string {
  return encode(bytes)
}

export function fromBase64url(text: string): Bytes | null {
  try {
    const bytes = new Uint8Array(decode(text))
    // White space, padding and unused bits are accepted by `decode`, so several strings would be the same bytes.
    return encode(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

export function randomBytes(length: number): Bytes {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += RANDOM_QUOTA)
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_QUOTA))
  return bytes
}
