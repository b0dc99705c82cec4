import { randomBytes, sha256, toBase64url } from '#cipher'
import { utf8 } from '../lib/base64url.ts'
import { chain } from './chain.ts'
import type { MaybePromise } from './cipher.ts'

/** Base64url text of that many random bytes; 32 bytes are 43 characters. */
export function randomToken(bytes = 32): string {
  return toBase64url(randomBytes(bytes))
}

/** Base64url text of the first bytes of the value's SHA-256: a name for something that must not be shown itself. */
export function hashToken(value: string, bytes = 16): MaybePromise<string> {
  return chain(sha256(utf8(value)), (digest) => toBase64url(digest.subarray(0, bytes)))
}

/** Compares without telling by its duration where two texts of the same length differ. */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
