import type { Config } from '../config/config.ts'
import { fromBase64url } from '../crypto/base64url.ts'
import { strictText } from '../lib/utf8.ts'
import { reportFailure } from '../log/failure.ts'
import type { Assert, Refuse } from './claims.ts'
import { checkIssuerAndAudience, createAssert } from './claims.ts'
import type { JsonObject } from './json.ts'
import { parseObject } from './json.ts'
import type { KeySet, SignatureFault, SignatureHeader } from './keys.ts'
import { isSupportedAlgorithm, verifyWith } from './keys.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider, Renewal, TokenSender } from './provider.ts'

/** A kind of token that the provider signs for this client. */
export interface TokenKind {
  readonly sender: TokenSender
  readonly refuse: Refuse
  /** Returns whether this `typ` is accepted; `undefined` if the header has none. */
  readonly accepts: (typ: unknown) => boolean
}

export interface SignedToken {
  readonly algorithm: string
  readonly claims: JsonObject
}

/** A token whose signature has not been verified: its claims are untrusted. */
export type DecodedToken = SignedToken & SignatureHeader

/** Maximum length in characters; longer tokens are rejected before decoding. */
const LENGTH_LIMIT = 1_048_576

/** Algorithms that tokens of the provider may be signed with. */
export interface AllowedAlgorithms {
  readonly names: readonly string[]
  /** End of the error message about a disallowed algorithm. */
  readonly messageEnd: string
}

/** Returns the algorithms that the application configures, otherwise those that the provider advertises. */
export function allowedAlgorithms(
  { idTokenAlgorithms: pinned }: Pick<Config, 'idTokenAlgorithms'>,
  { idTokenAlgorithms }: ServerMetadata,
): AllowedAlgorithms {
  if (pinned) return { names: pinned, messageEnd: 'the option idTokenSignedResponseAlg does not name' }
  const property = 'id_token_signing_alg_values_supported'
  return { names: idTokenAlgorithms, messageEnd: `the metadata of the provider does not list (${property})` }
}

/** Registered names (RFC 7518, RFC 8037, RFC 8812): only these are quoted from a header. */
const REGISTERED_ALGORITHM = /^(?:(?:HS|RS|ES|PS)(?:256|384|512)|none|ES256K|EdDSA|Ed25519|Ed448)$/

function algorithmName(alg: unknown): string {
  return typeof alg === 'string' && REGISTERED_ALGORITHM.test(alg) ? alg : 'an unknown algorithm'
}

/** Validates the header. Keys and URLs in it (`jwk`, `jku`, `x5c` …) are never used. */
function readHeader(
  token: string,
  allowed: AllowedAlgorithms,
  { accepts, refuse }: TokenKind,
): SignatureHeader {
  const assert: Assert = createAssert(refuse)
  assert(token.length <= LENGTH_LIMIT, 'It is too long.')
  assert(
    token.split('.', 6).length === 3,
    'It is no signed token in compact form (encrypted ones are not supported).',
  )
  const header = decodeObject(token.slice(0, token.indexOf('.')))
  assert(header !== null, 'Its header is not readable.')
  const { alg, kid, typ } = header
  const name = algorithmName(alg)
  assert(
    isSupportedAlgorithm(alg),
    `Its algorithm is ${name}, which this library does not accept.`,
    'ID_TOKEN_ALGORITHM_UNSUPPORTED',
  )
  assert(
    allowed.names.includes(alg),
    `Its algorithm is ${name}, which ${allowed.messageEnd}.`,
    'ID_TOKEN_ALGORITHM',
  )
  assert(!('crit' in header) && !('b64' in header), 'It demands an extension that is not supported.')
  assert(accepts(typ), 'Its type says that it is another kind of token.')
  return { algorithm: alg, keyId: kid }
}

/** Decodes a JSON object in base64url; returns `null` for anything else. */
export function decodeObject(part: string): JsonObject | null {
  const bytes = fromBase64url(part)
  return bytes && parseClaims(bytes)
}

const signatureFaults: Record<SignatureFault, string> = {
  'unknown-key': 'The provider publishes no key that fits it.',
  mismatch: "Its signature does not match the provider's keys.",
  unverifiable: 'Its signature cannot be verified.',
}

const loadTimes = ({ age, pause }: Renewal<KeySet>): string =>
  `The keys were loaded ${age} s ago and may be loaded again ${pause > 0 ? `in ${pause} s` : 'now'}.`

/**
 * Verifies the signature and returns the claims. Keys may have been rotated since they were loaded: if they fail, tries
 * newer ones once, unless the key set was loaded too recently.
 */
async function verifySignature(
  provider: Provider,
  token: string,
  header: SignatureHeader,
  { refuse, sender }: TokenKind,
): Promise<JsonObject> {
  const keys = await provider.keys()
  let outcome = await verifyWith(keys, token, header)
  let times = ''
  if (outcome === 'unknown-key' || outcome === 'mismatch') {
    const renewal = await provider.newerKeys(keys, sender)
    if (renewal.newer) outcome = await verifyWith(renewal.newer, token, header)
    times = ` ${loadTimes(renewal)}`
  }
  if (typeof outcome === 'string') return refuse(signatureFaults[outcome] + times, 'ID_TOKEN_SIGNATURE')
  return parseClaims(outcome) ?? refuse('Its payload is not a JSON object.')
}

function parseClaims(payload: Uint8Array): JsonObject | null {
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
export function decodeToken(token: string, allowed: AllowedAlgorithms, kind: TokenKind): DecodedToken {
  const header = readHeader(token, allowed, kind)
  const [, payload = '', signature = ''] = token.split('.', 3)
  const assert: Assert = createAssert(kind.refuse)
  const [payloadBytes, signatureBytes] = [payload, signature].map((part) => part && fromBase64url(part))
  assert(!!signatureBytes, 'Its signature is missing or cannot be decoded.')
  assert(!!payloadBytes, 'Its payload is missing or cannot be decoded.')
  const claims = parseClaims(payloadBytes)
  assert(claims !== null, 'Its payload is not a JSON object.')
  return { ...header, claims }
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
  let renewal: Renewal<KeySet>
  try {
    const keys = await provider.keys()
    if (typeof (await verifyWith(keys, token, header)) !== 'string') return undefined
    renewal = await provider.newerKeys(keys, sender)
  } catch (error) {
    reportFailure(provider.config.log, error)
    return undecided
  }
  const { newer } = renewal
  if (newer && typeof (await verifyWith(newer, token, header)) !== 'string') return undefined
  const isUnknown = typeof header.keyId === 'string' && !newer?.ids.has(header.keyId)
  return newer && !isUnknown ? refuse(signatureFaults.mismatch) : `${undecided} ${loadTimes(renewal)}`
}

/**
 * Verifies a token of the provider for this client: the signature by a published key with an algorithm of the
 * metadata, never one that the token names, then `iss` and `aud`. Throws the error of `kind`, and `DiscoveryError` if
 * metadata or keys cannot be loaded.
 */
export async function verifyToken(provider: Provider, token: string, kind: TokenKind): Promise<SignedToken> {
  const metadata = await provider.metadata()
  const { issuer } = metadata
  const allowed = allowedAlgorithms(provider.config, metadata)
  const header = readHeader(token, allowed, kind)
  const claims = await verifySignature(provider, token, header, kind)
  checkIssuerAndAudience(claims, { issuer, clientId: provider.config.clientId }, createAssert(kind.refuse))
  return { algorithm: header.algorithm, claims }
}
