import { hashToken, randomToken } from '../crypto/random.ts'
import type { MaybePromise } from '../lib/chain.ts'

/** Generates a PKCE verifier: 32 random bytes in base64url (RFC 7636 section 4.1). */
export function newCodeVerifier(): string {
  return randomToken(32)
}

/** Returns the PKCE challenge of a verifier by S256: its SHA-256 in base64url (RFC 7636 section 4.2). */
export function toCodeChallenge(codeVerifier: string): MaybePromise<string> {
  return hashToken(codeVerifier, 32)
}
