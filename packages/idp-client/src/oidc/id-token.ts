import { hashToken } from '../crypto/random.ts'
import { toAdvice } from '../errors/advice.ts'
import { OAuthError } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedy.ts'
import { defined, isAbsent } from '../lib/objects.ts'
import type { Assert, VerificationClock } from './claims.ts'
import {
  checkIssuerAndAudience,
  checkTimes,
  checkTimeTypes,
  compareOrganization,
  createAssert,
  isOfOrganization,
  isTime,
  timeFault,
  toAudiences,
  toTimeFault,
  toVerificationClock,
} from './claims.ts'
import type { JsonObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { SignedToken, TokenKind } from './signed-token.ts'
import { checkSignature, decodeToken, verifyToken } from './signed-token.ts'

/** All claims of a validated ID token, including protocol claims. */
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
  /** The nonce that was sent. If none was sent, a nonce in the token is ignored. */
  readonly nonce?: string
  /** The `max_age` that was sent, in seconds: `auth_time` is required and must be recent enough. */
  readonly maxAge?: number
  /** When that age counts, in seconds since the epoch. Default: now. A decision on another device may take minutes. */
  readonly ageAt?: number
  /** Start of the request for this token, in seconds since the epoch: a token that is minutes older is rejected. */
  readonly startedAt?: number
  /** Access token for the `at_hash` check, if the token has one. */
  readonly accessToken?: string
  /** The requested `organization`, by id or name: a token without it is rejected. */
  readonly organization?: string
  /** Required `sub` of the token. */
  readonly subject?: string
  /** Known claims of the session: the token must have the same issuer, user, audiences and organization. */
  readonly previous?: JsonObject
}

function refuse(detail: string, remedy?: Remedy): never {
  throw new OAuthError('ID_TOKEN_INVALID', defined({ detail, endpoint: 'token', remedy }))
}

const assertIdToken: Assert = createAssert(refuse)

const idTokenKind: TokenKind = {
  sender: 'provider',
  refuse,
  assert: assertIdToken,
  accepts: (typ) => !(typeof typ === 'string' && typ.toLowerCase().endsWith('+jwt')),
}

function checkParties(claims: JsonObject, clientId: string): void {
  const { sub, azp } = claims
  assertIdToken(typeof sub === 'string' && sub !== '', 'sub is missing or not a string.')
  assertIdToken(isAbsent(azp) || azp === clientId, 'azp is not the client id.', 'ID_TOKEN_AUDIENCE')
  const isForClient = toAudiences(claims).length === 1 || azp === clientId
  const detail = 'aud names further audiences without azp being the client id.'
  assertIdToken(isForClient, detail, 'ID_TOKEN_AUDIENCE')
}

/** Seconds by which a provider may set the times of a token back, so that servers with a slow clock accept it. Microsoft Entra ID does. */
const LONGEST_BACKDATING = 300

function checkLifetime(claims: JsonObject, clock: VerificationClock, startedAt: number | undefined): void {
  assertIdToken(claims['exp'] !== undefined, 'exp is missing.')
  const iat = checkTimes(claims, clock, assertIdToken)
  if (startedAt === undefined) return
  const age = startedAt + clock.skew - iat
  const isOfThisLogin = age <= LONGEST_BACKDATING + clock.tolerance
  assertIdToken(isOfThisLogin, toTimeFault('iat is before the login', age), 'CLOCKS_DIFFER')
}

function checkAuthenticationAge(
  claims: JsonObject,
  { now, skew, tolerance }: VerificationClock,
  { ageAt, maxAge }: IdTokenChecks,
): void {
  if (maxAge === undefined) return
  const { auth_time: authTime } = claims
  const missing = 'auth_time is missing or not a number, although max_age was sent.'
  assertIdToken(isTime(authTime), missing, 'MAX_AGE_NOT_MET')
  const early = authTime - now
  assertIdToken(early <= tolerance, toTimeFault('auth_time is in the future', early), 'CLOCKS_DIFFER')
  const isRecent = authTime + maxAge + tolerance >= (ageAt === undefined ? now : ageAt + skew)
  assertIdToken(isRecent, 'auth_time is older than max_age allows.', 'MAX_AGE_NOT_MET')
}

/** Hash functions, and the length of the left half of their results in bytes. */
const HASHES = [
  ['sha512', 32],
  ['sha384', 24],
  ['sha256', 16],
] as const

/**
 * Returns the values that `at_hash` may have. Providers disagree on the hash for EdDSA, which specifies none (RFC 8037).
 */
function accessTokenHashes(algorithm: string, accessToken: string): Promise<readonly string[]> {
  const isEdwards = algorithm === 'EdDSA' || algorithm === 'Ed25519'
  const fitting = HASHES.filter(([name]) =>
    isEdwards ? name !== 'sha384' : name.slice('sha'.length) === algorithm.slice('RS'.length),
  )
  return Promise.all(fitting.map(([name, bytes]) => hashToken(accessToken, bytes, name)))
}

/**
 * Validates `at_hash` (OpenID Connect Core 3.1.3.6): the left half of the hash of the signature algorithm. An EdDSA
 * token with an unknown hash is logged, not rejected.
 */
async function checkAccessTokenHash(
  { algorithm, claims }: SignedToken,
  accessToken: string | undefined,
  { config }: Provider,
): Promise<void> {
  const { at_hash: expected } = claims
  if (isAbsent(expected) || accessToken === undefined) return
  const hashes = await accessTokenHashes(algorithm, accessToken)
  if (hashes.some((hash) => hash === expected)) return
  assertIdToken(hashes.length > 1, 'at_hash does not belong to the access token.')
  config.log.once(
    `at_hash of the provider's ${algorithm} ID tokens is neither SHA-512 nor SHA-256 of the access token: it is ignored.`,
  )
}

function hasSameAudiences(one: JsonObject, other: JsonObject): boolean {
  const audiences = (claims: JsonObject): string => JSON.stringify([...new Set(toAudiences(claims))].sort())
  return audiences(one) === audiences(other)
}

const OTHER_ORGANIZATION = 'org_id or org_name is not that of the ID token before.'

/**
 * Validates that a token is about the user, issuer, audiences and organization of the session. Returns whether it omits the
 * organization of the session.
 */
function checkSuccession(
  claims: JsonObject,
  { previous, subject }: Pick<IdTokenChecks, 'previous' | 'subject'>,
): { readonly omitsOrganization: boolean } {
  assertIdToken(subject === undefined || claims['sub'] === subject, 'sub is not the requested user.')
  if (!previous) return { omitsOrganization: false }
  for (const name of ['iss', 'sub'] as const) {
    const isSame = previous[name] === undefined || claims[name] === previous[name]
    assertIdToken(isSame, `${name} is not that of the ID token before.`)
  }
  const isSameAudience = previous['aud'] === undefined || hasSameAudiences(claims, previous)
  assertIdToken(isSameAudience, 'aud is not that of the ID token before.')
  const organization = compareOrganization(claims, previous)
  assertIdToken(organization !== 'other', OTHER_ORGANIZATION)
  return { omitsOrganization: organization === 'absent' }
}

/**
 * Validates an ID token of any grant: signature by a key of the provider with an algorithm of its metadata, and OpenID
 * Connect Core 3.1.3.7, with the configured clock, skew and tolerance (60 s by default). Returns all claims. Throws
 * `OAuthError` `ID_TOKEN_INVALID`, and `DiscoveryError` if the keys cannot be loaded.
 */
export async function validateIdToken(
  provider: Provider,
  token: string,
  checks: IdTokenChecks,
): Promise<IdTokenClaims> {
  const { config } = provider
  const signed = await verifyToken(provider, token, idTokenKind)
  const { claims } = signed
  const clock = toVerificationClock(config)
  checkParties(claims, config.clientId)
  checkLifetime(claims, clock, checks.startedAt)
  const isSameNonce = checks.nonce === undefined || claims['nonce'] === checks.nonce
  assertIdToken(isSameNonce, 'nonce is not the one that was sent.', 'ID_TOKEN_NONCE')
  checkAuthenticationAge(claims, clock, checks)
  await checkAccessTokenHash(signed, checks.accessToken, provider)
  const isOf = !checks.organization || isOfOrganization(config, claims, checks.organization)
  assertIdToken(isOf, 'org_id or org_name is not the requested organization.', 'ID_TOKEN_ORGANIZATION')
  assertIdToken(!checkSuccession(claims, checks).omitsOrganization, OTHER_ORGANIZATION)
  // The checks above include the type of each property that the type promises.
  return claims as IdTokenClaims
}

/**
 * Verifies the ID token of an earlier login, which may have expired: signature, issuer, audience and subject. Returns its claims.
 * Throws `OAuthError` `ID_TOKEN_INVALID`, and `DiscoveryError` if metadata or keys cannot be loaded.
 */
export async function verifyEarlierIdToken(provider: Provider, token: string): Promise<JsonObject> {
  const { claims } = await verifyToken(provider, token, idTokenKind)
  checkParties(claims, provider.config.clientId)
  checkTimeTypes(claims, assertIdToken)
  return claims
}

/** Reason why a refreshed ID token is ignored while the other tokens of the response are accepted. */
type IgnoredReason = 'keys' | 'time' | 'auth_time' | 'nonce' | 'organization'

export interface RefreshChecks {
  readonly metadata: ServerMetadata
  readonly accessToken: string
  /** `sub` of the session's user; absent if the token belongs to no session. */
  readonly subject?: string
  /** Known claims of the session: `iss`, `sub`, `aud`, `org_id`, `org_name`, `auth_time` and `nonce`. */
  readonly previous?: JsonObject
}

/**
 * Validates the ID token of a refresh (OpenID Connect Core 12.2). Checks that need neither keys nor clocks come first,
 * so that missing keys or a wrong clock cannot hide a token that is forged or about another user. Throws `OAuthError`
 * `ID_TOKEN_INVALID` if the whole response must be rejected. A token that is invalid for another reason is logged and ignored,
 * because rejecting the response would lose the rotated refresh token: returns `undefined`.
 */
export async function validateRefreshedIdToken(
  provider: Provider,
  token: string,
  checks: RefreshChecks,
): Promise<IdTokenClaims | undefined> {
  const { accessToken, metadata, previous = {} } = checks
  const { config } = provider
  const decoded = decodeToken(provider, metadata, token, idTokenKind)
  const { claims } = decoded
  checkIssuerAndAudience(claims, config.clientId, metadata.issuer, assertIdToken)
  checkParties(claims, config.clientId)
  const { omitsOrganization } = checkSuccession(claims, checks)
  assertIdToken(claims['exp'] !== undefined, 'exp is missing.')
  checkTimeTypes(claims, assertIdToken)
  await checkAccessTokenHash(decoded, accessToken, provider)
  const ignore = (reason: IgnoredReason, detail: string, remedy: Remedy = 'ID_TOKEN_INVALID'): undefined => {
    const details = { reason, detail, ...toAdvice(remedy, undefined) }
    config.log.emit({ level: 'warn', code: 'REFRESHED_ID_TOKEN_IGNORED', ...details })
  }
  const undecided = await checkSignature(provider, token, decoded, idTokenKind)
  if (undecided !== undefined) return ignore('keys', undecided, 'JWKS_ERROR')
  const fault = timeFault(claims, toVerificationClock(config))
  if (fault !== undefined) return ignore('time', fault, 'CLOCKS_DIFFER')
  const { auth_time: authTime, nonce } = claims
  const { auth_time: before } = previous
  if (isTime(authTime) && isTime(before) && authTime < before)
    return ignore('auth_time', 'auth_time is earlier than that of the session.')
  if (!isAbsent(nonce) && !isAbsent(previous['nonce']) && nonce !== previous['nonce'])
    return ignore('nonce', 'nonce is not that of the session.')
  if (omitsOrganization) return ignore('organization', 'org_id or org_name of the session is missing.')
  // The checks above include the type of each property that the type promises.
  return claims as IdTokenClaims
}
