import type { JsonWebKey, KeyObject, VerifyKeyObjectInput } from 'node:crypto'
import { constants, createPublicKey, verify } from 'node:crypto'
import type { Bytes } from '../lib/utf8.ts'
import type { PublicJwk, SignatureAlgorithm, VerificationKey } from './signature.ts'
import { MIN_RSA_BITS } from './signature.ts'

export const kind = 'node'

export function importPublicKey(_algorithm: SignatureAlgorithm, jwk: PublicJwk): VerificationKey | null {
  const { crv, e, kty, n, x, y } = jwk
  try {
    const key = createPublicKey({ key: { kty, crv, e, n, x, y } as JsonWebKey, format: 'jwk' })
    if (kty === 'RSA' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS) return null
    return key as unknown as VerificationKey
  } catch {
    return null
  }
}

/** Returns the hash of an algorithm, or `null` for EdDSA, which hashes by itself. */
function hashName(algorithm: SignatureAlgorithm): string | null {
  return algorithm.startsWith('Ed') ? null : `sha${algorithm.slice(2)}`
}

function verifyInput(algorithm: SignatureAlgorithm, key: KeyObject): KeyObject | VerifyKeyObjectInput {
  if (algorithm.startsWith('PS'))
    return {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      // RFC 7518 section 3.5: as long as the hash, neither more nor less.
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }
  return algorithm.startsWith('ES') ? { key, dsaEncoding: 'ieee-p1363' } : key
}

export function verifySignature(
  algorithm: SignatureAlgorithm,
  key: VerificationKey,
  data: Bytes,
  signature: Bytes,
): boolean {
  try {
    return verify(hashName(algorithm), data, verifyInput(algorithm, key as unknown as KeyObject), signature)
  } catch {
    return false
  }
}
