import type { MaybePromise } from '../lib/chain.ts'
import type { Bytes } from '../lib/utf8.ts'

declare const opaque: unique symbol

/** Asymmetric signature algorithms (RFC 7518 section 3.1, RFC 8037, RFC 9864); EdDSA and Ed25519 are the same. */
export type SignatureAlgorithm = `${'RS' | 'PS' | 'ES'}${'256' | '384' | '512'}` | 'EdDSA' | 'Ed25519'

/** The properties of a public key in a JSON Web Key (RFC 7517) that identify it; untrusted. */
export interface PublicJwk {
  readonly kty: string
  readonly crv?: unknown
  readonly e?: unknown
  readonly n?: unknown
  readonly x?: unknown
  readonly y?: unknown
}

/** An imported public key, opaque to all but the implementation that created it. */
export interface VerificationKey {
  readonly [opaque]: 'VerificationKey'
}

/** Minimum size of an RSA key in bits (RFC 7518 section 3.3). */
export const MIN_RSA_BITS = 2048

/** Exports of every implementation of `#signature`. */
export interface SignatureVerifier {
  /** Part of cache keys, because an implementation cannot use the keys of another. */
  readonly kind: 'node' | 'web'
  /**
   * Imports a public key for signatures of this algorithm, whose `kty` and `crv` the caller has checked. Returns `null` if
   * the key is invalid, or an RSA key of less than 2048 bits. Never throws.
   */
  importPublicKey(algorithm: SignatureAlgorithm, jwk: PublicJwk): MaybePromise<VerificationKey | null>
  /** Returns whether the signature in the form of RFC 7518 is valid. The key must be imported for the algorithm. Never throws. */
  verifySignature(
    algorithm: SignatureAlgorithm,
    key: VerificationKey,
    data: Bytes,
    signature: Bytes,
  ): MaybePromise<boolean>
}
