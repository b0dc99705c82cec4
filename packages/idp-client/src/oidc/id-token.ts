import { encode } from 'jose/base64url'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { OAuthError } from '../errors/provider.ts'
import { strictText, utf8 } from '../lib/base64url.ts'
import type { JsonObject } from './json.ts'
import { parseObject } from './json.ts'
import type { SignatureFault } from './keys.ts'
import { verifyWith } from './keys.ts'
import type { Provider } from './provider.ts'
import { serverTime } from './server-time.ts'

/** The claims of a validated ID token; all of them, those of the protocol included. */
export interface IdTokenClaims {
  readonly iss: string
  readonly sub: string
  readonly aud: string | readonly string[]
  readonly exp: number
  readonly iat: number
  readonly nonce?: string
  readonly auth_time?: number
  readonly sid?: string
  readonly [claim: string]: unknown
}

export interface IdTokenChecks {
  /** The nonce that was sent; absent where none was, then a nonce in the token is not looked at. */
  readonly nonce?: string
  /** The `max_age` that was sent, in seconds: `auth_time` is required and must be young enough. */
  readonly maxAge?: number
  /** When the request began that led to this token, in seconds: an older token is refused. */
  readonly startedAt?: number
  /** What `at_hash` is compared with, when the token has one. */
  readonly accessToken?: string
  /** The `organization` that was asked for: a token that names another one is refused. */
  readonly organization?: string
  /** Whom the token must be about. */
  readonly subject?: string
  /** Claims of the ID token that this one follows (OpenID Connect Core 12.2). */
  readonly previous?: JsonObject
}

/** Characters; more is refused before anything is decoded. */
const LENGTH_LIMIT = 1_048_576

function refuse(detail: string): never {
  throw new OAuthError('ID_TOKEN_INVALID', { detail })
}

function demand(condition: boolean, detail: string): asserts condition {
  if (!condition) refuse(detail)
}

interface Header {
  readonly algorithm: string
}

/** What can be refused by the header alone. Keys and addresses in it (`jwk`, `jku`, `x5c` …) are never looked at. */
function readHeader(token: string, algorithms: readonly string[]): Header {
  demand(token.length <= LENGTH_LIMIT, 'It is too long.')
  demand(
    token.split('.', 6).length === 3,
    'It is no signed token in compact form (encrypted ones are not supported).',
  )
  const header = decodeHeader(token)
  demand(
    header.alg !== undefined && algorithms.includes(header.alg),
    'Its algorithm is not one that the metadata of the provider allows (id_token_signing_alg_values_supported).',
  )
  demand(!('crit' in header) && !('b64' in header), 'It demands an extension that is not supported.')
  const otherKind = typeof header.typ === 'string' && header.typ.toLowerCase().endsWith('+jwt')
  demand(!otherKind, 'Its type says that it is another kind of token.')
  return { algorithm: header.alg }
}

function decodeHeader(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token)
  } catch {
    return refuse('Its header is not readable.')
  }
}

const signatureFaults: Record<SignatureFault, string> = {
  'unknown-key': 'The provider publishes no key that fits it.',
  mismatch: "Its signature does not match the provider's keys.",
  unverifiable: 'Its signature cannot be verified.',
}

/**
 * The signed claims. Keys may have been replaced since they were loaded, so a token that they do not verify is tried
 * once more with newer ones, if those may be asked for now.
 */
async function verifiedClaims(
  provider: Provider,
  token: string,
  algorithms: readonly string[],
): Promise<JsonObject> {
  const keys = await provider.keys()
  let outcome = await verifyWith(keys, token, algorithms)
  if (outcome === 'unknown-key' || outcome === 'mismatch') {
    const newer = await provider.newerKeys(keys)
    if (newer) outcome = await verifyWith(newer, token, algorithms)
  }
  if (typeof outcome === 'string') return refuse(signatureFaults[outcome])
  return decodeClaims(outcome) ?? refuse('Its payload is no JSON object.')
}

function decodeClaims(payload: Uint8Array): JsonObject | null {
  try {
    return parseObject(strictText(payload))
  } catch {
    return null
  }
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function checkParties(claims: JsonObject, issuer: string, clientId: string): void {
  const { iss, sub, aud, azp } = claims
  demand(iss === issuer, 'iss is not the issuer of the provider.')
  demand(typeof sub === 'string' && sub !== '', 'sub is missing or no text.')
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  demand(audiences.includes(clientId), 'aud does not contain the client id.')
  demand(azp === undefined || azp === clientId, 'azp is not the client id.')
  demand(
    audiences.length === 1 || azp === clientId,
    'aud names further audiences without azp being the client id.',
  )
}

/** The provider's time, and the seconds by which it may differ from what its clock showed. */
interface Moment {
  readonly now: number
  readonly tolerance: number
  /** Seconds that the provider's clock is ahead of ours. */
  readonly skew: number
}

function momentOf({ config }: Provider): Moment {
  const { clockSkew: skew, clockTolerance: tolerance } = config.dpop
  return { now: serverTime(config), tolerance, skew }
}

function checkTimes(
  claims: JsonObject,
  { now, skew, tolerance }: Moment,
  startedAt: number | undefined,
): void {
  const { exp, iat, nbf } = claims
  demand(isTime(exp), 'exp is missing or no number.')
  demand(exp > now - tolerance, 'exp is past: compare the clocks of both servers.')
  demand(isTime(iat), 'iat is missing or no number.')
  demand(iat <= now + tolerance, 'iat is in the future: compare the clocks of both servers.')
  const tooOld = startedAt !== undefined && iat < startedAt + skew - tolerance
  demand(!tooOld, 'iat is older than the login: compare the clocks of both servers.')
  demand(nbf === undefined || (isTime(nbf) && nbf <= now + tolerance), 'nbf is in the future or no number.')
}

function checkAuthenticationAge(
  claims: JsonObject,
  { now, tolerance }: Moment,
  maxAge: number | undefined,
): void {
  if (maxAge === undefined) return
  const { auth_time: authTime } = claims
  demand(isTime(authTime), 'auth_time is missing or no number, although max_age was sent.')
  demand(authTime <= now + tolerance, 'auth_time is in the future: compare the clocks of both servers.')
  demand(authTime + maxAge + tolerance >= now, 'auth_time is older than max_age allows.')
}

function hashName(algorithm: string): string {
  // EdDSA with Ed25519 hashes with SHA-512 (RFC 8032); all others have the size in their name.
  return /^(?:RS|PS|ES)/.test(algorithm) ? `SHA-${algorithm.slice(2)}` : 'SHA-512'
}

/** OpenID Connect Core 3.1.3.6: the left half of the hash that belongs to the signature algorithm. */
async function checkAccessTokenHash(
  claims: JsonObject,
  algorithm: string,
  accessToken: string | undefined,
): Promise<void> {
  const { at_hash: expected } = claims
  if (expected === undefined || accessToken === undefined) return
  const digest = new Uint8Array(await crypto.subtle.digest(hashName(algorithm), utf8(accessToken)))
  demand(
    expected === encode(digest.subarray(0, digest.length / 2)),
    'at_hash does not belong to the access token.',
  )
}

function checkOrganization(claims: JsonObject, organization: string | undefined): void {
  if (organization === undefined) return
  const { org_id: id, org_name: name } = claims
  if (id === undefined && name === undefined) return
  const named = typeof name === 'string' && name.toLowerCase() === organization.toLowerCase()
  demand(id === organization || named, 'org_id is not the organization that was asked for.')
}

function audiencesOf({ aud }: JsonObject): string {
  const audiences: unknown[] = Array.isArray(aud) ? [...aud] : [aud]
  return JSON.stringify(audiences.sort())
}

/** A refreshed token speaks about the same login: what may be absent in it must not be different. */
function checkSuccession(claims: JsonObject, { previous, subject }: IdTokenChecks): void {
  demand(subject === undefined || claims['sub'] === subject, 'sub is not the user whom it was asked for.')
  if (!previous) return
  for (const name of ['iss', 'sub'] as const) {
    demand(claims[name] === previous[name], `${name} is not that of the ID token before.`)
  }
  demand(audiencesOf(claims) === audiencesOf(previous), 'aud is not that of the ID token before.')
  for (const name of ['azp', 'auth_time', 'nonce'] as const) {
    const comparable = claims[name] !== undefined && previous[name] !== undefined
    demand(!comparable || claims[name] === previous[name], `${name} is not that of the ID token before.`)
  }
}

/**
 * Validates an ID token of any grant: signature by a key of the provider under an algorithm of its metadata, and
 * OpenID Connect Core 3.1.3.7, with clock, skew and tolerance (60 s by default) of the configuration. Returns all claims.
 * Throws `OAuthError` `ID_TOKEN_INVALID`, and `DiscoveryError` when the keys cannot be loaded.
 */
export async function validateIdToken(
  provider: Provider,
  token: string,
  checks: IdTokenChecks,
): Promise<IdTokenClaims> {
  const { issuer, idTokenAlgorithms } = await provider.metadata()
  const { algorithm } = readHeader(token, idTokenAlgorithms)
  const claims = await verifiedClaims(provider, token, idTokenAlgorithms)
  const moment = momentOf(provider)
  checkParties(claims, issuer, provider.config.clientId)
  checkTimes(claims, moment, checks.startedAt)
  demand(
    checks.nonce === undefined || claims['nonce'] === checks.nonce,
    'nonce is not the one that was sent.',
  )
  checkAuthenticationAge(claims, moment, checks.maxAge)
  await checkAccessTokenHash(claims, algorithm, checks.accessToken)
  checkOrganization(claims, checks.organization)
  checkSuccession(claims, checks)
  // checkParties and checkTimes have seen the type of each member that the type promises.
  return claims as IdTokenClaims
}
