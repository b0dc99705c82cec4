import type { Bytes } from '../lib/base64url.ts'

/** Synchronous where the runtime has synchronous cryptography (Node), a promise elsewhere. */
export type MaybePromise<T> = T | Promise<T>

declare const opaque: unique symbol

/** A derived AES-256 key; only the implementation that made it can look inside. */
export interface CipherKey {
  readonly [opaque]: 'CipherKey'
}

/** The result of AES-256-GCM: a ciphertext of the same length, and an authentication tag of 16 bytes. */
export interface Sealed {
  readonly ciphertext: Bytes
  readonly tag: Bytes
}

/** The exports of every implementation of `#cipher`. Each opens values that the others sealed. */
export interface Cipher {
  /** Keys of one implementation mean nothing to another, so whatever is cached names it. */
  readonly kind: 'node' | 'web'
  /** HKDF-SHA-256 (RFC 5869) over the UTF-8 text of the secret, empty salt. */
  deriveBytes(secret: string, info: string, length: number): MaybePromise<Bytes>
  /** As `deriveBytes`, 32 bytes, kept as a key. */
  deriveKey(secret: string, info: string): MaybePromise<CipherKey>
  /** AES-256-GCM; an IV of 12 bytes must never be used twice with one key. */
  encrypt(key: CipherKey, iv: Bytes, aad: Bytes, plaintext: Bytes): MaybePromise<Sealed>
  /** The reverse of `encrypt`; null when anything was changed. Never throws. */
  decrypt(key: CipherKey, iv: Bytes, aad: Bytes, sealed: Sealed): MaybePromise<Bytes | null>
  sha256(bytes: Bytes): MaybePromise<Bytes>
  /** Without padding (RFC 4648 section 5). */
  toBase64url(bytes: Uint8Array): string
  /** Null unless `text` is the one text that `toBase64url` gives for some bytes. */
  fromBase64url(text: string): Bytes | null
  /** From the runtime's cryptographically secure generator. */
  randomBytes(length: number): Bytes
}
