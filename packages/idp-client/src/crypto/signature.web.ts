import type { Bytes } from '../lib/utf8.ts'
import type { PublicJwk, SignatureAlgorithm, VerificationKey } from './signature.ts'
import { MIN_RSA_BITS } from './signature.ts'

export const kind = 'web'

interface SignatureParameters {
  readonly name: string
  readonly hash: string
  readonly namedCurve: string
  readonly saltLength: number
}

/** Returns the parameters to import a key and to verify a signature. Each algorithm reads only its own ones. */
function signatureParameters(
  algorithm: SignatureAlgorithm,
): Pick<SignatureParameters, 'name'> | SignatureParameters {
  if (algorithm.startsWith('Ed')) return { name: 'Ed25519' }
  const bits = Number(algorithm.slice(2))
  const rsa = algorithm.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5'
  return {
    name: algorithm.startsWith('ES') ? 'ECDSA' : rsa,
    hash: `SHA-${bits}`,
    namedCurve: `P-${bits === 512 ? 521 : bits}`,
    // RFC 7518 section 3.5: as long as the hash, neither more nor less.
    saltLength: bits / 8,
  }
}

export async function importPublicKey(
  algorithm: SignatureAlgorithm,
  jwk: PublicJwk,
): Promise<VerificationKey | null> {
  const { crv, e, kty, n, x, y } = jwk
  try {
    const publicJwk = { kty, crv, e, n, x, y } as JsonWebKey
    const key = await crypto.subtle.importKey('jwk', publicJwk, signatureParameters(algorithm), false, [
      'verify',
    ])
    if (kty === 'RSA' && (key.algorithm as RsaHashedKeyAlgorithm).modulusLength < MIN_RSA_BITS) return null
    return key as unknown as VerificationKey
  } catch {
    return null
  }
}

export async function verifySignature(
  algorithm: SignatureAlgorithm,
  key: VerificationKey,
  data: Bytes,
  signature: Bytes,
): Promise<boolean> {
  try {
    const parameters = signatureParameters(algorithm)
    return await crypto.subtle.verify(parameters, key as unknown as CryptoKey, signature, data)
  } catch {
    return false
  }
}
