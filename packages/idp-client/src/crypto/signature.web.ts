import type { Bytes } from '../lib/utf8.ts'
import type { PublicJwk, SignatureAlgorithm, VerificationKey } from './signature.ts'
import { MIN_RSA_BITS } from './signature.ts'

interface SignatureParameters {
  readonly forImport: RsaHashedImportParams | EcKeyImportParams | Algorithm
  readonly forVerify: Algorithm | RsaPssParams | EcdsaParams
}

const CURVES = { '256': 'P-256', '384': 'P-384', '512': 'P-521' } as const

function signatureParameters(algorithm: SignatureAlgorithm): SignatureParameters {
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519')
    return { forImport: { name: 'Ed25519' }, forVerify: { name: 'Ed25519' } }
  const bits = algorithm.slice(2) as keyof typeof CURVES
  const hash = `SHA-${bits}`
  switch (algorithm.slice(0, 2)) {
    case 'ES': {
      const name = 'ECDSA'
      return { forImport: { name, namedCurve: CURVES[bits] }, forVerify: { name, hash } }
    }
    case 'PS': {
      const name = 'RSA-PSS'
      // RFC 7518 section 3.5: as long as the hash, neither more nor less.
      return { forImport: { name, hash }, forVerify: { name, saltLength: Number(bits) / 8 } }
    }
    default: {
      const name = 'RSASSA-PKCS1-v1_5'
      return { forImport: { name, hash }, forVerify: { name } }
    }
  }
}

export async function importPublicKey(
  algorithm: SignatureAlgorithm,
  jwk: PublicJwk,
): Promise<VerificationKey | null> {
  const { crv, e, kty, n, x, y } = jwk
  const members = Object.entries({ kty, crv, e, n, x, y }).filter(([, value]) => value !== undefined)
  try {
    const { forImport } = signatureParameters(algorithm)
    const publicJwk = Object.fromEntries(members) as JsonWebKey
    const key = await crypto.subtle.importKey('jwk', publicJwk, forImport, false, ['verify'])
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
    const { forVerify } = signatureParameters(algorithm)
    return await crypto.subtle.verify(forVerify, key as unknown as CryptoKey, signature, data)
  } catch {
    return false
  }
}
