import type { JWK } from 'jose'
import { JWSSignatureVerificationFailed } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import { importJWK } from 'jose/key/import'
import { fromBase64url } from '../crypto/base64url.ts'
import { DiscoveryError } from '../errors/provider.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { isAbsent, isObject } from '../lib/objects.ts'
import { strictText } from '../lib/utf8.ts'
import { reportFailure } from '../log/failure.ts'
import type { Assert, Refuse } from './claims.ts'
import { checkIssuerAndAudience } from './claims.ts'
import type { JsonObject } from './json.ts'
import { parseObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider, Renewal, TokenSender } from './provider.ts'
import type { VerifiedHeaders } from './verified-headers.ts'

/** A public key of the provider. */
interface PublicKey {
  /** As published; untrusted. */
  readonly entry: JsonObject
  /** The parameters of the public key alone. */
  readonly jwk: JWK
  /** By algorithm; imported at the first use. */
  readonly imported: Map<string, ImportedKey>
}

interface ImportedKey {
  readonly key: CryptoKey | Uint8Array
  readonly options: { algorithms: string[] }
}

/** The provider's public keys. */
export interface KeySet {
  readonly keys: readonly PublicKey[]
  /** Every `kid` of the set. */
  readonly ids: ReadonlySet<unknown>
}

/** Header parameters that select a key (RFC 7515 section 4.1). */
export interface SignatureHeader {
  /** Validated: one that the client accepts. */
  readonly algorithm: string
  /** Unvalidated `kid`; undefined if the header has none. */
  readonly keyId: unknown
  /** The `typ`, one that the kind of token accepts. */
  readonly type?: unknown
}

/** Maximum number of keys; no provider publishes more, so a larger set is treated as an attack. */
const KEY_LIMIT = 100
/** Maximum number of keys to try for a token without `kid`, or with a `kid` that several keys share. */
const CANDIDATE_LIMIT = 8

const PRIVATE_PROPERTIES = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Returns whether a key has a property. Some providers write `null`, or an empty list (`oth`), for one that it lacks. */
const hasValue = (value: unknown): boolean =>
  !isAbsent(value) && !(Array.isArray(value) && value.length === 0)

/** Returns whether an entry may be a public key; other entries are ignored (RFC 7517 section 5). */
function mayBePublicKey(entry: unknown): entry is JsonObject {
  if (!isObject(entry) || typeof entry['kty'] !== 'string') return false
  return !PRIVATE_PROPERTIES.some((name) => hasValue(entry[name]))
}

function toPublicKey(entry: JsonObject): PublicKey {
  const { crv, e, kty, n, x, y } = entry
  return { entry, jwk: { kty, crv, e, n, x, y } as JWK, imported: new Map() }
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
  const ids = new Set<unknown>(entries.filter(isObject).map(({ kid }) => kid))
  return { keys: keys.map(toPublicKey), ids }
}

/** Returns the set of one key that a token brings itself, as a DPoP proof does; `null` unless it is a public key. */
export function toKeySet(jwk: unknown): KeySet | null {
  return mayBePublicKey(jwk) ? { keys: [toPublicKey(jwk)], ids: new Set() } : null
}

type KeyType = Pick<JWK, 'kty' | 'crv'>

/**
 * Asymmetric signature algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1, RFC 9864) and their keys; EdDSA and Ed25519 are
 * the same. Never `none` or a symmetric one.
 */
const KEY_TYPES: ReadonlyMap<string, KeyType> = new Map<string, KeyType>([
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((name) => [name, { kty: 'RSA' }] as const),
  ['ES256', { kty: 'EC', crv: 'P-256' }],
  ['ES384', { kty: 'EC', crv: 'P-384' }],
  ['ES512', { kty: 'EC', crv: 'P-521' }],
  ...['EdDSA', 'Ed25519'].map((name) => [name, { kty: 'OKP', crv: 'Ed25519' }] as const),
])

/** The names of the algorithms that can be verified here. */
export const supportedAlgorithms: readonly string[] = [...KEY_TYPES.keys()]

/** Returns whether signatures of this algorithm can be verified here: never `none` or a symmetric one. */
export function isSupportedAlgorithm(algorithm: unknown): algorithm is string {
  return typeof algorithm === 'string' && KEY_TYPES.has(algorithm)
}

/** Returns whether `key_ops` allows verification (RFC 7517 section 4.3): absent, or unique strings with `verify`. */
function allowsVerification(operations: unknown): boolean {
  if (isAbsent(operations)) return true
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
    (isAbsent(alg) || alg === algorithm) &&
    (isAbsent(use) || use === 'sig') &&
    (isAbsent(ext) || typeof ext === 'boolean') &&
    allowsVerification(operations)
  )
}

/** Returns whether the set has a key for signatures of this algorithm. */
export function hasKeyFor(keySet: KeySet, algorithm: string): boolean {
  return keySet.keys.some((key) => fits(key, { algorithm, keyId: undefined }))
}

/** Reason for a failed verification, which may be due to a key rotation. */
export type SignatureFault = 'unknown-key' | 'mismatch' | 'unverifiable'

/** The signed payload, or the reason why the token has no valid signature. */
type Outcome = Uint8Array | SignatureFault

/** Imports the key, which `jose` would otherwise copy and look up for each token. */
async function importKey({ imported, jwk }: PublicKey, algorithm: string): Promise<ImportedKey> {
  const key = { key: await importJWK(jwk, algorithm), options: { algorithms: [algorithm] } }
  imported.set(algorithm, key)
  return key
}

/**
 * Returns the payload if this key verifies the signature. `unverifiable`: the key cannot be used, for example an RSA key of less
 * than 2048 bits, or the token cannot be decoded.
 */
async function verifyBy(own: PublicKey, token: string, algorithm: string): Promise<Outcome> {
  try {
    const { key, options } = own.imported.get(algorithm) ?? (await importKey(own, algorithm))
    return (await compactVerify(token, key, options)).payload
  } catch (error) {
    return error instanceof JWSSignatureVerificationFailed ? 'mismatch' : 'unverifiable'
  }
}

/** Tries several keys: the first that verifies the signature decides. */
async function verifyByAny(keys: readonly PublicKey[], token: string, algorithm: string): Promise<Outcome> {
  let mismatches = 0
  for (const key of keys) {
    const outcome = await verifyBy(key, token, algorithm)
    if (typeof outcome !== 'string') return outcome
    if (outcome === 'mismatch') mismatches += 1
    if (mismatches === CANDIDATE_LIMIT) break
  }
  return 'mismatch'
}

/** The last characters whose unused bits are zero, by the number of characters in the last group of four. */
const LAST_CHARACTERS = [null, '', 'AQgw', 'AEIMQUYcgkosw048']

const hasNoUnusedBits = (text: string): boolean =>
  (LAST_CHARACTERS[text.length % 4] ?? text).includes(text.slice(-1))

/** Returns whether `fromBase64url` can decode the text: `jose` accepts padding and unused bits, too. */
export const isBase64url = (text: string): boolean => /^[\w-]*$/.test(text) && hasNoUnusedBits(text)

/** Returns whether `fromBase64url` can decode every part of a token. */
const isDecodable = (token: string): boolean =>
  /^[\w.-]*$/.test(token) && token.split('.').every(hasNoUnusedBits)

/**
 * Returns the signed bytes, or the reason for a failure. The caller has validated the algorithm of the header; the keys come
 * from `keySet`, never from the token. Tries each key that fits: providers publish the next key beside the current one.
 */
export function verifyWith(keySet: KeySet, token: string, header: SignatureHeader): MaybePromise<Outcome> {
  return isDecodable(token) ? verifyDecoded(keySet, token, header) : 'unverifiable'
}

/** Verifies a token that `decodeToken` or `decodeSupportedToken` has decoded, so that its encoding is known to be the one. */
export function verifyDecoded(keySet: KeySet, token: string, header: SignatureHeader): MaybePromise<Outcome> {
  const keys = keySet.keys.filter((key) => fits(key, header))
  const [key] = keys
  if (!key) return 'unknown-key'
  const { algorithm } = header
  return keys.length === 1 ? verifyBy(key, token, algorithm) : verifyByAny(keys, token, algorithm)
}

/** A kind of token that the provider signs for this client. */
export interface TokenKind {
  readonly sender: TokenSender
  readonly refuse: Refuse
  readonly assert: Assert
  /** Returns whether this `typ` is accepted; `undefined` if the header has none. */
  readonly accepts: (typ: unknown) => boolean
}

export interface SignedToken {
  readonly algorithm: string
  readonly claims: JsonObject
}

/** Maximum length in characters; longer tokens are rejected before decoding. */
const LENGTH_LIMIT = 1_048_576

/** Registered names (RFC 7518, RFC 8037, RFC 8812): only these are quoted from a header. */
const REGISTERED_ALGORITHM = /^(?:(?:HS|RS|ES|PS)(?:256|384|512)|none|ES256K|EdDSA|Ed25519|Ed448)$/

/**
 * Validates the header, except whether the client accepts its algorithm, which is a supported one. Keys and URLs in it (`jwk`, `jku`,
 * `x5c` …) are never used.
 */
function readSupportedHeader(
  token: string,
  kind: TokenKind,
  verified?: Pick<VerifiedHeaders<SignatureHeader>, 'get'>,
): SignatureHeader {
  kind.assert(token.length <= LENGTH_LIMIT, 'It is too long.')
  const end = token.indexOf('.')
  const isCompact = end !== -1 && token.lastIndexOf('.') === token.indexOf('.', end + 1)
  kind.assert(isCompact, 'It is not a signed token in compact form (encrypted ones are not supported).')
  const known = verified?.get(token.slice(0, end))
  if (known) return known
  const header = decodeObject(token.slice(0, end))
  kind.assert(header !== null, 'Its header is not readable.')
  const { alg, kid, typ } = header
  if (!isSupportedAlgorithm(alg)) {
    const name = typeof alg === 'string' && REGISTERED_ALGORITHM.test(alg) ? alg : 'an unknown algorithm'
    return kind.refuse(
      `Its algorithm is ${name}, which this library does not accept.`,
      'ID_TOKEN_ALGORITHM_UNSUPPORTED',
    )
  }
  kind.assert(!('crit' in header) && !('b64' in header), 'It demands an extension that is not supported.')
  kind.assert(kind.accepts(typ), 'Its type says that it is another kind of token.')
  return { algorithm: alg, keyId: kid, type: typ }
}

/** Decodes a JSON object in base64url; returns `null` for anything else. */
export function decodeObject(part: string): JsonObject | null {
  const bytes = fromBase64url(part)
  return bytes && parseClaims(bytes)
}

/** Also decodes a part with padding, which is not allowed in a JWT, and still no reason to take it for an opaque token. */
const decodeUnpadded = (part: string): JsonObject | null => decodeObject(part.replace(/={1,2}$/, ''))

/** Returns the claims of an access token that is a JWT, unverified: only its API verifies it. Null for an opaque one. */
export function decodeUnverified(accessToken: string): JsonObject | null {
  const [header = '', payload = '', signature, further] = accessToken.split('.', 4)
  if (signature === undefined || further !== undefined) return null
  return decodeUnpadded(header) && decodeUnpadded(payload)
}

export const signatureFaults: Readonly<Record<SignatureFault, string>> = {
  'unknown-key': 'The provider publishes no key that fits it.',
  mismatch: "Its signature does not match the provider's keys.",
  unverifiable: 'Its signature cannot be verified.',
}

const loadTimes = ({ age, pause }: Renewal<KeySet>): string =>
  `The keys were loaded ${age} s ago and may be loaded again ${pause > 0 ? `in ${pause} s` : 'now'}.`

/** A signature that no loaded key verifies, and the reload of the keys that it caused. */
interface FailedSignature {
  readonly fault: SignatureFault
  readonly renewal: Renewal<KeySet>
}

/**
 * Verifies the signature of a decoded token; returns `undefined` for a valid one. Keys may have been rotated since they were loaded: if
 * they fail, tries newer ones once, unless the key set was loaded too recently.
 */
async function findFault(
  provider: Provider,
  token: string,
  header: SignatureHeader,
  sender: TokenSender,
): Promise<FailedSignature | undefined> {
  const keys = await provider.keys()
  const first = await verifyDecoded(keys, token, header)
  if (typeof first !== 'string') return undefined
  const renewal = await provider.newerKeys(keys, sender)
  const outcome = renewal.newer ? await verifyDecoded(renewal.newer, token, header) : first
  return typeof outcome === 'string' ? { fault: outcome, renewal } : undefined
}

/** Returns the claims of a signed payload; `null` if it is no JSON object. */
export function parseClaims(payload: Uint8Array): JsonObject | null {
  try {
    return parseObject(strictText(payload))
  } catch {
    return null
  }
}

/**
 * Decodes a token without verifying its signature, for checks that reject it in any case. Throws the error of `kind` if
 * header, payload or signature cannot be decoded or the algorithm is not allowed.
 */
export function decodeToken(
  provider: Provider,
  metadata: ServerMetadata,
  token: string,
  kind: TokenKind,
): SignedToken & SignatureHeader {
  const header = readSupportedHeader(token, kind)
  const { algorithm } = header
  const { idTokenAlgorithms: pinned } = provider.config
  const reason = pinned
    ? 'the option idTokenSignedResponseAlg does not name'
    : 'the metadata of the provider does not list (id_token_signing_alg_values_supported)'
  kind.assert(
    (pinned ?? metadata.idTokenAlgorithms).includes(algorithm),
    `Its algorithm is ${algorithm}, which ${reason}.`,
    'ID_TOKEN_ALGORITHM',
  )
  return { claims: readClaims(token, kind), ...header }
}

/** A token whose signature is not verified yet. */
export interface DecodedToken {
  readonly encodedHeader: string
  readonly header: SignatureHeader
  readonly claims: JsonObject
}

/** Decodes a token in the same way, whatever supported algorithm it has. */
export function decodeSupportedToken(
  token: string,
  kind: TokenKind,
  verified: Pick<VerifiedHeaders<SignatureHeader>, 'get'>,
): DecodedToken {
  const header = readSupportedHeader(token, kind, verified)
  return { encodedHeader: token.slice(0, token.indexOf('.')), header, claims: readClaims(token, kind) }
}

function readClaims(token: string, kind: TokenKind): JsonObject {
  const end = token.lastIndexOf('.')
  const isSigned = end + 1 < token.length && isBase64url(token.slice(end + 1))
  kind.assert(isSigned, 'Its signature is missing or cannot be decoded.')
  const claims = decodeObject(token.slice(token.indexOf('.') + 1, end))
  kind.assert(claims !== null, 'Its payload is not a JSON object.')
  return claims
}

/**
 * Verifies a signature, also if keys cannot be loaded. Only newly loaded keys prove that a signature is wrong, which throws the
 * error of `kind`; a `kid` that is not among them may belong to a key that is about to be published. Returns why the keys that
 * could be loaded do not tell, or `undefined` for a valid signature.
 */
export async function checkSignature(
  provider: Provider,
  token: string,
  header: SignatureHeader,
  { refuse, sender }: TokenKind,
): Promise<string | undefined> {
  const undecided = 'No key could be loaded that decides about its signature.'
  let failed: FailedSignature | undefined
  try {
    failed = await findFault(provider, token, header, sender)
  } catch (error) {
    reportFailure(provider.config.log, error)
    return undecided
  }
  if (!failed) return undefined
  const { renewal } = failed
  const isUnknown = typeof header.keyId === 'string' && !renewal.newer?.ids.has(header.keyId)
  return renewal.newer && !isUnknown ? refuse(signatureFaults.mismatch) : `${undecided} ${loadTimes(renewal)}`
}

/**
 * Verifies a token of the provider for this client: the signature by a published key with an algorithm of the
 * metadata, never one that the token names, then `iss` and `aud`. Throws the error of `kind`, and `DiscoveryError` if
 * metadata or keys cannot be loaded.
 */
export async function verifyToken(provider: Provider, token: string, kind: TokenKind): Promise<SignedToken> {
  const metadata = await provider.metadata()
  const decoded = decodeToken(provider, metadata, token, kind)
  const failed = await findFault(provider, token, decoded, kind.sender)
  if (failed)
    kind.refuse(`${signatureFaults[failed.fault]} ${loadTimes(failed.renewal)}`, 'ID_TOKEN_SIGNATURE')
  checkIssuerAndAudience(decoded.claims, provider.config.clientId, metadata.issuer, kind.assert)
  return decoded
}
