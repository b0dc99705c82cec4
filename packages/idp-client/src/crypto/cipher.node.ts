import { Buffer } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  randomFillSync,
} from 'node:crypto'
import type { Bytes } from '../lib/utf8.ts'
import type { CipherKey, HashName, Sealed } from './cipher.ts'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const NO_SALT = new Uint8Array()

export const kind = 'node'

export function deriveBytes(secret: string, info: string, length: number): Bytes {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(secret, 'utf8'), NO_SALT, info, length))
}

export function deriveKey(secret: string, info: string): CipherKey {
  // A key object, unlike its bytes, reveals nothing if it is logged by mistake.
  return createSecretKey(deriveBytes(secret, info, 32)) as unknown as CipherKey
}

export function encrypt(key: CipherKey, iv: Bytes, aad: Bytes, plaintext: Bytes): Sealed {
  const cipher = createCipheriv(ALGORITHM, key as unknown as KeyObject, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(aad)
  const ciphertext = cipher.update(plaintext)
  // Completes the tag; in this mode it returns no further bytes.
  cipher.final()
  return { ciphertext, tag: cipher.getAuthTag() }
}

export function decrypt(key: CipherKey, iv: Bytes, aad: Bytes, { ciphertext, tag }: Sealed): Bytes | null {
  try {
    const decipher = createDecipheriv(ALGORITHM, key as unknown as KeyObject, iv, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(aad)
    decipher.setAuthTag(tag)
    const plaintext = decipher.update(ciphertext)
    // Verifies the tag: the decrypted bytes are only valid after this.
    decipher.final()
    return plaintext
  } catch {
    return null
  }
}

export function digest(name: HashName, data: Bytes | string): Bytes {
  return hash(name, data, 'buffer')
}

export function toBase64url(bytes: Uint8Array): string {
  const buffer =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('base64url')
}

/*
 * Unused bits of the last character must be zero, or several strings would decode to the same bytes. A single character
 * in the last group encodes no byte and fails here too.
 */
function endsCanonically(text: string, bytes: Buffer): boolean {
  const rest = text.length % 4
  return rest === 0 || bytes.toString('base64url', bytes.length - rest + 1) === text.slice(-rest)
}

export function fromBase64url(text: string): Bytes | null {
  // Node skips unknown characters and accepts both alphabets. A skipped character shows in the length, and one outside
  // of ASCII (some of which it accepts as a letter) in the byte length: half the cost of encoding again.
  if (text.includes('+') || text.includes('/')) return null
  if (Buffer.byteLength(text) !== text.length) return null
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === Math.floor((text.length * 3) / 4) && endsCanonically(text, bytes) ? bytes : null
}

/* Not from a pool: copies of a process (a startup snapshot, a cloned virtual machine) would use an IV twice. */
export function randomBytes(length: number): Bytes {
  return randomFillSync(new Uint8Array(length))
}
