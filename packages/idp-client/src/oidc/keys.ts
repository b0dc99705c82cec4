import { createLocalJWKSet } from 'jose/jwks/local'
import type { CompactVerifyGetKey } from 'jose/jws/compact/verify'
import { compactVerify } from 'jose/jws/compact/verify'
import { DiscoveryError } from '../errors/provider.ts'
import type { JsonObject } from './json.ts'
import { isObject, parseObject } from './json.ts'

/** The provider's public keys. Each is imported on first use and cached with the set. */
export interface KeySet {
  readonly find: CompactVerifyGetKey
  /** Every `kid` of the set. */
  readonly ids: ReadonlySet<string>
}

/** Maximum number of keys; no provider publishes more, so a larger set is treated as an attack. */
const KEY_LIMIT = 100
/** Maximum number of keys to try for a token without `kid`, or with a `kid` that several keys share. */
const CANDIDATE_LIMIT = 8

const PRIVATE_PROPERTIES = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Returns whether an entry may be a public key; other entries are ignored (RFC 7517 section 5). */
function mayBePublicKey(entry: unknown): entry is JsonObject & { kty: string } {
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
  if (!Array.isArray(entries)) throw unusable('is no JSON object with a list of keys')
  if (entries.length > KEY_LIMIT) throw unusable(`has more than ${KEY_LIMIT} keys`)
  const keys = entries.filter(mayBePublicKey)
  if (keys.length === 0) throw unusable('contains no public key')
  const ids = entries.flatMap((entry) =>
    isObject(entry) && typeof entry['kid'] === 'string' ? [entry['kid']] : [],
  )
  return { find: createLocalJWKSet({ keys }), ids: new Set(ids) }
}

const getCode = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

/** Reason for a failed verification. `unknown-key` and `mismatch` may be due to a key rotation. */
export type SignatureFault = 'unknown-key' | 'mismatch' | 'unverifiable'

/**
 * Returns the signed bytes, or the reason for a failure. The algorithm comes from `algorithms` and the keys from
 * `keySet`, never from the token.
 */
export async function verifyWith(
  keySet: KeySet,
  token: string,
  algorithms: readonly string[],
): Promise<Uint8Array | SignatureFault> {
  const options = { algorithms: [...algorithms] }
  try {
    return (await compactVerify(token, keySet.find, options)).payload
  } catch (error) {
    if (getCode(error) === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') return tryEach(error, token, options)
    return toSignatureFault(error)
  }
}

function toSignatureFault(error: unknown): SignatureFault {
  const code = getCode(error)
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'unknown-key'
  return code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' ? 'mismatch' : 'unverifiable'
}

async function tryEach(
  several: unknown,
  token: string,
  options: { algorithms: string[] },
): Promise<Uint8Array | SignatureFault> {
  let tried = 0
  for await (const key of several as AsyncIterable<CryptoKey>) {
    if (++tried > CANDIDATE_LIMIT) break
    try {
      return (await compactVerify(token, key, options)).payload
    } catch {
      // Try the next key: providers publish the next signing key beside the current one.
    }
  }
  return 'mismatch'
}
