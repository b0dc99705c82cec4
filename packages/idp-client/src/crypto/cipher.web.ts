import type { Bytes } from '../lib/utf8.ts'
import { concatenate, utf8 } from '../lib/utf8.ts'
import type { CipherKey, Sealed } from './cipher.ts'

const ALGORITHM = 'AES-GCM'
const TAG_BYTES = 16
const ALPHABET = utf8('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
const INVALID = 255
/* Maximum number of bytes per call of `getRandomValues`. */
const RANDOM_QUOTA = 65_536

const values: Uint8Array = new Uint8Array(128).fill(INVALID)
for (const [value, code] of ALPHABET.entries()) values[code] = value

const decoder = new TextDecoder()

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

export async function sha256(data: Bytes | string): Promise<Bytes> {
  const bytes = typeof data === 'string' ? utf8(data) : data
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

function letter(sextet: number): number {
  return ALPHABET[sextet & 63] ?? 0
}

export function toBase64url(bytes: Uint8Array): string {
  const letters = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let out = 0
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    // Writes past the end of a typed array are dropped, as a short last group needs.
    letters[out++] = letter(group >> 18)
    letters[out++] = letter(group >> 12)
    letters[out++] = letter(group >> 6)
    letters[out++] = letter(group)
  }
  return decoder.decode(letters)
}

export function fromBase64url(text: string): Bytes | null {
  const rest = text.length % 4
  if (rest === 1) return null
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let group = 0
  let out = 0
  for (let at = 0; at < text.length; at++) {
    const value = values[text.charCodeAt(at)] ?? INVALID
    if (value === INVALID) return null
    group = ((group << 6) | value) & 0xffffff
    if (at % 4 === 0) continue
    bytes[out++] = group >> (6 - (at % 4) * 2)
  }
  // Unused bits of the last character must be zero, or two strings would decode to the same bytes.
  if (rest === 2 && (group & 15) !== 0) return null
  if (rest === 3 && (group & 3) !== 0) return null
  return bytes
}

export function randomBytes(length: number): Bytes {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += RANDOM_QUOTA)
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_QUOTA))
  return bytes
}
