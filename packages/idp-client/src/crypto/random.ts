import { deriveBytes, digest, randomBytes, toBase64url } from '#cipher'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { Bytes } from '../lib/utf8.ts'
import type { HashName } from './cipher.ts'

/** Returns random bytes in base64url; 32 bytes are 43 characters. */
export function randomToken(bytes = 32): string {
  return toBase64url(randomBytes(bytes))
}

/** Returns the first bytes of the value's hash, by default SHA-256, in base64url: an identifier for a secret. */
export function hashToken(
  value: string | Bytes,
  bytes = 16,
  name: HashName = 'sha256',
): MaybePromise<string> {
  return chain(digest(name, value), (hash) => toBase64url(hash.subarray(0, bytes)))
}

/** Compares two strings of the same length in constant time. */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}

/** Returns 16 bytes in base64url that only this secret derives from the value, the same in every process. */
export function derivedToken(secret: string, purpose: string, value: string): MaybePromise<string> {
  return chain(hashToken(value, 32), (hash) =>
    chain(deriveBytes(secret, `idp-client ${purpose} v1 ${hash}`, 16), toBase64url),
  )
}
