import * as platform from '#signature'
import { fromBase64url } from '../crypto/base64url.ts'
import type {
  PublicJwk,
  SignatureAlgorithm,
  SignatureVerifier,
  VerificationKey,
} from '../crypto/signature.ts'
import { DiscoveryError } from '../errors/provider.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { Bytes } from '../lib/utf8.ts'
import { utf8 } from '../lib/utf8.ts'
import type { JsonObject } from './json.ts'
import { isObject, parseObject } from './json.ts'

/** A public key of the provider. */
interface PublicKey {
  readonly jwk: JsonObject & PublicJwk
  /**
   * The key for each implementation and algorithm that verified a token; null if it cannot be used. Copies of this package
   * with different implementations share key sets.
   */
  readonly imported: Map<string, VerificationKey | null>
}

/** The provider's public keys. Each is imported on first use and cached with the set. */
export interface KeySet {
  readonly keys: readonly PublicKey[]
  /** Every `kid` of the set. */
  readonly ids: ReadonlySet<string>
}

/** Header parameters that select a key (RFC 7515 section 4.1). */
export interface SignatureHeader {
  /** Validated: one that the client accepts. */
  readonly algorithm: SignatureAlgorithm
  /** Unvalidated `kid`; undefined if the header has none. */
  readonly keyId: unknown
}

/** Maximum number of keys; no provider publishes more, so a larger set is treated as an attack. */
const KEY_LIMIT = 100
/** Maximum number of keys to try for a token without `kid`, or with a `kid` that several keys share. */
const CANDIDATE_LIMIT = 8

const PRIVATE_PROPERTIES = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Returns whether an entry may be a public key; other entries are ignored (RFC 7517 section 5). */
function mayBePublicKey(entry: unknown): entry is PublicKey['jwk'] {
  return (
    isObject(entry) && typeof entry['kty'] === 'string' && !PRIVATE_PROPERTIES.some((name) => name in entry)
  )
}

function unusable(reason: string): DiscoveryError {
  return new DiscoveryError('JWKS_ERROR', { endpoint: 'jwks', detail: `The JSON Web Key Set ${reason}.` })
}

/** Parses a JWKS document. Throws `DiscoveryError` `JWKS_ERROR`. */
export function readKeySet(text: string): KeySet {
  const entries = parseObject(text)?.['keys']
  if (!Array.isArray(entries)) throw unusable('is not a JSON object with a list of keys')
  if (entries.length > KEY_LIMIT) throw unusable(`has more than ${KEY_LIMIT} keys`)
  const keys = entries.filter(mayBePublicKey)
  if (keys.length === 0) throw unusable('contains no public key')
  const ids = entries.flatMap((entry) =>
    isObject(entry) && typeof entry['kid'] === 'string' ? [entry['kid']] : [],
  )
  return { keys: keys.map((jwk) => ({ jwk, imported: new Map() })), ids: new Set(ids) }
}

interface KeyType {
  readonly kty: string
  readonly crv?: string
}

const RSA: KeyType = { kty: 'RSA' }
const ED25519: KeyType = { kty: 'OKP', crv: 'Ed25519' }

/** The keys of each algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). There is none for a symmetric one. */
const KEY_TYPES: ReadonlyMap<string, KeyType> = new Map(
  Object.entries({
    RS256: RSA,
    RS384: RSA,
    RS512: RSA,
    PS256: RSA,
    PS384: RSA,
    PS512: RSA,
    ES256: { kty: 'EC', crv: 'P-256' },
    ES384: { kty: 'EC', crv: 'P-384' },
    ES512: { kty: 'EC', crv: 'P-521' },
    EdDSA: ED25519,
    Ed25519: ED25519,
  } satisfies Record<SignatureAlgorithm, KeyType>),
)

/** Returns whether `key_ops` allows verification (RFC 7517 section 4.3): absent, or unique strings with `verify`. */
function allowsVerification(operations: unknown): boolean {
  if (operations === undefined) return true
  if (!Array.isArray(operations) || !operations.includes('verify')) return false
  return operations.every((name, index) => typeof name === 'string' && operations.indexOf(name) === index)
}

/** Returns whether a key may have signed a token with this header: by its type, curve, `kid`, `alg`, `use` and `key_ops`. */
function fits({ jwk }: PublicKey, { algorithm, keyId }: SignatureHeader): boolean {
  const { alg, crv, ext, key_ops: operations, kid, kty, use } = jwk
  const type = KEY_TYPES.get(algorithm)
  return (
    type !== undefined &&
    kty === type.kty &&
    (type.crv === undefined || crv === type.crv) &&
    (keyId === undefined || (typeof keyId === 'string' && kid === keyId)) &&
    (alg === undefined || alg === algorithm) &&
    (use === undefined || use === 'sig') &&
    (ext === undefined || typeof ext === 'boolean') &&
    allowsVerification(operations)
  )
}

/** A token in the compact serialization of RFC 7515 section 7.1. */
interface CompactToken {
  readonly signingInput: Bytes
  readonly payload: Bytes
  readonly signature: Bytes
}

function parseCompact(token: string): CompactToken | null {
  const [header, payload, signature, further] = token.split('.', 4)
  if (header === undefined || payload === undefined || signature === undefined || further !== undefined)
    return null
  const [headerBytes, payloadBytes, signatureBytes] = [header, payload, signature].map(fromBase64url)
  if (!headerBytes || !payloadBytes || !signatureBytes) return null
  return { signingInput: utf8(`${header}.${payload}`), payload: payloadBytes, signature: signatureBytes }
}

/** Reason for a failed verification. `unknown-key` and `mismatch` may be due to a key rotation. */
export type SignatureFault = 'unknown-key' | 'mismatch' | 'unverifiable'

function importOnce(
  { imported, jwk }: PublicKey,
  algorithm: SignatureAlgorithm,
  { importPublicKey, kind }: SignatureVerifier,
): MaybePromise<VerificationKey | null> {
  const name = `${kind} ${algorithm}`
  const known = imported.get(name)
  if (known !== undefined) return known
  return chain(importPublicKey(algorithm, jwk), (key) => {
    imported.set(name, key)
    return key
  })
}

/** Keys to try for one token, and how many of them may still be tried. */
interface Candidates {
  readonly keys: readonly PublicKey[]
  readonly limit: number
}

/** Returns the payload if one of the keys verifies the signature: providers publish the next key beside the current one. */
function verifyWithAny(
  { keys, limit }: Candidates,
  token: CompactToken,
  algorithm: SignatureAlgorithm,
  verifier: SignatureVerifier,
): MaybePromise<Bytes | SignatureFault> {
  const [key, ...others] = keys
  if (key === undefined || limit === 0) return 'mismatch'
  return chain(importOnce(key, algorithm, verifier), (imported) => {
    if (imported === null) return verifyWithAny({ keys: others, limit }, token, algorithm, verifier)
    return chain(
      verifier.verifySignature(algorithm, imported, token.signingInput, token.signature),
      (isValid) =>
        isValid
          ? token.payload
          : verifyWithAny({ keys: others, limit: limit - 1 }, token, algorithm, verifier),
    )
  })
}

/**
 * Returns the signed bytes, or the reason for a failure. The caller has validated the algorithm of the header; the keys come
 * from `keySet`, never from the token.
 */
export function verifyWith(
  keySet: KeySet,
  token: string,
  header: SignatureHeader,
  verifier: SignatureVerifier = platform,
): MaybePromise<Bytes | SignatureFault> {
  const keys = keySet.keys.filter((key) => fits(key, header))
  const [first] = keys
  if (first === undefined) return 'unknown-key'
  const parsed = parseCompact(token)
  if (parsed === null) return 'unverifiable'
  return chain(importOnce(first, header.algorithm, verifier), (only) =>
    only === null && keys.length === 1
      ? 'unverifiable'
      : verifyWithAny({ keys, limit: CANDIDATE_LIMIT }, parsed, header.algorithm, verifier),
  )
}
