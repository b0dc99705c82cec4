import type { MaybePromise } from '../lib/chain.ts'
import type { Bytes } from '../lib/utf8.ts'

declare const opaque: unique symbol

/** A derived AES-256 key, opaque to all but the implementation that created it. */
export interface CipherKey {
  readonly [opaque]: 'CipherKey'
}

/** SHA-2 (FIPS 180-4) by the length of its result in bits. */
export type HashName = 'sha256' | 'sha384' | 'sha512'

/** Result of AES-256-GCM: a ciphertext of the plaintext's length and a tag of 16 bytes. */
export interface Sealed {
  readonly ciphertext: Bytes
  readonly tag: Bytes
}

/**
 * Exports of every implementation of `#cipher`, synchronous where the runtime has synchronous cryptography (Node). They can
 * decrypt each other's output.
 */
export interface Cipher {
  /** Part of cache keys, because an implementation cannot use the keys of another. */
  readonly kind: 'node' | 'web'
  /** Derives bytes by HKDF-SHA-256 (RFC 5869) from the UTF-8 secret, with an empty salt. */
  deriveBytes(secret: string, info: string, length: number): MaybePromise<Bytes>
  /** Like `deriveBytes` with 32 bytes, as a key. */
  deriveKey(secret: string, info: string): MaybePromise<CipherKey>
  /** AES-256-GCM; a 12-byte IV must never be used twice with one key. */
  encrypt(key: CipherKey, iv: Bytes, aad: Bytes, plaintext: Bytes): MaybePromise<Sealed>
  /** The inverse of `encrypt`; returns `null` if anything was changed. Never throws. */
  decrypt(key: CipherKey, iv: Bytes, aad: Bytes, sealed: Sealed): MaybePromise<Bytes | null>
  /** Returns the hash of bytes, or of a string in UTF-8. */
  digest(name: HashName, data: Bytes | string): MaybePromise<Bytes>
  /** Without padding (RFC 4648 section 5). */
  toBase64url(bytes: Uint8Array): string
  /** Returns `null` unless `text` is the canonical encoding that `toBase64url` returns. */
  fromBase64url(text: string): Bytes | null
  /** From the runtime's cryptographically secure generator. */
  randomBytes(length: number): Bytes
}
