import { Buffer } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes as randomBuffer,
} from 'node:crypto'
import type { Bytes } from '../lib/base64url.ts'
import type { CipherKey } from './cipher.ts'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const NO_SALT = new Uint8Array()

export const kind = 'node'

export function deriveBytes(secret: string, info: string, length: number): Bytes {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(secret, 'utf8'), NO_SALT, info, length))
}

export function deriveKey(secret: string, info: string): CipherKey {
  // A key object, unlike its bytes, shows nothing when it is logged by mistake.
  return createSecretKey(deriveBytes(secret, info, 32)) as unknown as CipherKey
}

export function encrypt(key: CipherKey, iv: Bytes, aad: Bytes, plaintext: Bytes): Bytes {
  const cipher = createCipheriv(ALGORITHM, key as unknown as KeyObject, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(aad)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

export function decrypt(key: CipherKey, iv: Bytes, aad: Bytes, sealed: Bytes): Bytes | null {
  const end = sealed.length - TAG_BYTES
  if (end < 0) return null
  try {
    const decipher = createDecipheriv(ALGORITHM, key as unknown as KeyObject, iv, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(aad)
    decipher.setAuthTag(sealed.subarray(end))
    const plaintext = decipher.update(sealed.subarray(0, end))
    // Verifies the tag; in this mode it yields no further bytes.
    decipher.final()
    return plaintext
  } catch {
    return null
  }
}

export function sha256(bytes: Bytes): Bytes {
  return createHash('sha256').update(bytes).digest()
}

export function toBase64url(bytes: Uint8Array): string {
  const buffer =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('base64url')
}

export function fromBase64url(text: string): Bytes | null {
  const bytes = Buffer.from(text, 'base64url')
  // The decoder skips what it does not know; encoding again costs a quarter of it and proves that nothing was skipped.
  return bytes.toString('base64url') === text ? bytes : null
}

export function randomBytes(length: number): Bytes {
  return randomBuffer(length)
}
