import type { JWK } from 'jose'
import { JWSSignatureVerificationFailed } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import { fromBase64url } from '../crypto/base64url.ts'
import { DiscoveryError } from '../errors/provider.ts'
import type { JsonObject } from './json.ts'
import { isObject, parseObject } from './json.ts'

/** A public key of the provider. */
interface PublicKey {
  /** As published; untrusted. */
  readonly entry: JsonObject
  /** The parameters of the public key alone. `jose` imports this object once for each algorithm. */
  readonly jwk: JWK
}

/** The provider's public keys. */
export interface KeySet {
  readonly keys: readonly PublicKey[]
  /** Every `kid` of the set. */
  readonly ids: ReadonlySet<string>
}

/** Header parameters that select a key (RFC 7515 section 4.1). */
export interface SignatureHeader {
  /** Validated: one that the client accepts. */
  readonly algorithm: string
  /** Unvalidated `kid`; undefined if the header has none. */
  readonly keyId: unknown
}

/** Maximum number of keys; no provider publishes more, so a larger set is treated as an attack. */
const KEY_LIMIT = 100
/** Maximum number of keys to try for a token without `kid`, or with a `kid` that several keys share. */
const CANDIDATE_LIMIT = 8

const PRIVATE_PROPERTIES = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Returns whether an entry may be a public key; other entries are ignored (RFC 7517 section 5). */
function mayBePublicKey(entry: unknown): entry is JsonObject {
  return (
    isObject(entry) && typeof entry['kty'] === 'string' && !PRIVATE_PROPERTIES.some((name) => name in entry)
  )
}

function toPublicKey(entry: JsonObject): PublicKey {
  const { crv, e, kty, n, x, y } = entry
  return { entry, jwk: { kty, crv, e, n, x, y } as JWK }
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
  return { keys: keys.map(toPublicKey), ids: new Set(ids) }
}

interface KeyType {
  readonly kty: string
  readonly crv?: string
}

const RSA: KeyType = { kty: 'RSA' }
const ED25519: KeyType = { kty: 'OKP', crv: 'Ed25519' }

/**
 * Asymmetric signature algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1, RFC 9864) and their keys; EdDSA and Ed25519 are
 * the same. Never `none` or a symmetric one.
 */
const KEY_TYPES: ReadonlyMap<string, KeyType> = new Map(
  Object.entries<KeyType>({
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
  }),
)

/** Returns whether signatures of this algorithm can be verified here: never `none` or a symmetric one. */
export function isSupportedAlgorithm(algorithm: unknown): algorithm is string {
  return typeof algorithm === 'string' && KEY_TYPES.has(algorithm)
}

/** Returns whether `key_ops` allows verification (RFC 7517 section 4.3): absent, or unique strings with `verify`. */
function allowsVerification(operations: unknown): boolean {
  if (operations === undefined) return true
  if (!Array.isArray(operations) || !operations.includes('verify')) return false
  return operations.every((name, index) => typeof name === 'string' && operations.indexOf(name) === index)
}

/** Returns whether a key may have signed a token with this header: by its type, curve, `kid`, `alg`, `use` and `key_ops`. */
function fits({ entry }: PublicKey, { algorithm, keyId }: SignatureHeader): boolean {
  const { alg, crv, ext, key_ops: operations, kid, kty, use } = entry
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

/** Reason for a failed verification. `unknown-key` and `mismatch` may be due to a key rotation. */
export type SignatureFault = 'unknown-key' | 'mismatch' | 'unverifiable'

/**
 * Returns the payload if this key verifies the signature. `unverifiable`: the key cannot be used, for example an RSA key of less
 * than 2048 bits, or the token cannot be decoded.
 */
async function verifyBy(
  { jwk }: PublicKey,
  token: string,
  algorithm: string,
): Promise<Uint8Array | 'mismatch' | 'unverifiable'> {
  try {
    return (await compactVerify(token, jwk, { algorithms: [algorithm] })).payload
  } catch (error) {
    return error instanceof JWSSignatureVerificationFailed ? 'mismatch' : 'unverifiable'
  }
}

/** Whether each part of a token has the one encoding that its bytes have; `jose` accepts padding and unused bits, too. */
const isCanonical = (token: string): boolean => token.split('.').every((part) => fromBase64url(part) !== null)

/**
 * Returns the signed bytes, or the reason for a failure. The caller has validated the algorithm of the header; the keys come
 * from `keySet`, never from the token. Tries each key that fits: providers publish the next key beside the current one.
 */
export async function verifyWith(
  keySet: KeySet,
  token: string,
  header: SignatureHeader,
): Promise<Uint8Array | SignatureFault> {
  const keys = keySet.keys.filter((key) => fits(key, header))
  if (keys.length === 0) return 'unknown-key'
  if (!isCanonical(token)) return 'unverifiable'
  let mismatches = 0
  for (const key of keys) {
    const outcome = await verifyBy(key, token, header.algorithm)
    if (typeof outcome !== 'string') return outcome
    if (outcome === 'mismatch') mismatches += 1
    if (mismatches === CANDIDATE_LIMIT) break
  }
  return mismatches === 0 && keys.length === 1 ? 'unverifiable' : 'mismatch'
}
