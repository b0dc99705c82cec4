import { encode } from 'jose/base64url'
import { OAuthError } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedies.ts'
import { utf8 } from '../lib/base64url.ts'
import type { JsonObject } from './json.ts'
import { isOfOrganization, isSameOrganization } from './organization.ts'
import type { Provider } from './provider.ts'
import type { Assert, SignedToken, TokenKind, VerificationClock } from './signed-token.ts'
import {
  checkTimes,
  createAssert,
  isTime,
  openToken,
  toAudiences,
  toVerificationClock,
} from './signed-token.ts'

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
  /** The `organization` that was asked for, by id or name: a token that does not name it is refused. */
  readonly organization?: string
  /** Whom the token must be about. */
  readonly subject?: string
  /** What the session knows of its user: the token must be of the same issuer, user, audiences and organization. */
  readonly previous?: JsonObject
}

function refuse(detail: string, remedy?: Remedy): never {
  throw new OAuthError('ID_TOKEN_INVALID', { detail, endpoint: 'token', ...(remedy ? { remedy } : {}) })
}

export const assert: Assert = createAssert(refuse)

export const kind: TokenKind = {
  refuse,
  accepts: (typ) => !(typeof typ === 'string' && typ.toLowerCase().endsWith('+jwt')),
}

export function checkParties(claims: JsonObject, clientId: string): void {
  const { sub, azp } = claims
  assert(typeof sub === 'string' && sub !== '', 'sub is missing or not a string.')
  assert(azp === undefined || azp === clientId, 'azp is not the client id.', 'ID_TOKEN_AUDIENCE')
  assert(
    toAudiences(claims).length === 1 || azp === clientId,
    'aud names further audiences without azp being the client id.',
    'ID_TOKEN_AUDIENCE',
  )
}

function checkLifetime(claims: JsonObject, moment: VerificationClock, startedAt: number | undefined): void {
  assert(claims['exp'] !== undefined, 'exp is missing.')
  const iat = checkTimes(claims, moment, assert)
  const tooOld = startedAt !== undefined && iat < startedAt + moment.skew - moment.tolerance
  assert(!tooOld, 'iat is older than the login: compare the clocks of both servers.', 'CLOCKS_DIFFER')
}

function checkAuthenticationAge(
  claims: JsonObject,
  { now, tolerance }: VerificationClock,
  maxAge: number | undefined,
): void {
  if (maxAge === undefined) return
  const { auth_time: authTime } = claims
  assert(
    isTime(authTime),
    'auth_time is missing or not a number, although max_age was sent.',
    'MAX_AGE_NOT_MET',
  )
  assert(
    authTime <= now + tolerance,
    'auth_time is in the future: compare the clocks of both servers.',
    'CLOCKS_DIFFER',
  )
  assert(authTime + maxAge + tolerance >= now, 'auth_time is older than max_age allows.', 'MAX_AGE_NOT_MET')
}

/** Hashes that `at_hash` may be made with: providers do not agree on the one for EdDSA, which names none (RFC 8037). */
function hashNames(algorithm: string): readonly string[] {
  return /^(?:RS|PS|ES)/.test(algorithm) ? [`SHA-${algorithm.slice(2)}`] : ['SHA-512', 'SHA-256']
}

async function leftHalf(hashName: string, accessToken: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest(hashName, utf8(accessToken)))
  return encode(digest.subarray(0, digest.length / 2))
}

/**
 * OpenID Connect Core 3.1.3.6: the left half of the hash that belongs to the signature algorithm. An EdDSA token whose
 * hash is none that we know is reported, not refused.
 */
export async function checkAccessTokenHash(
  { algorithm, claims }: SignedToken,
  accessToken: string | undefined,
  { config }: Provider,
): Promise<void> {
  const { at_hash: expected } = claims
  if (expected === undefined || accessToken === undefined) return
  const names = hashNames(algorithm)
  const halves = await Promise.all(names.map((name) => leftHalf(name, accessToken)))
  if (halves.some((half) => half === expected)) return
  assert(names.length > 1, 'at_hash does not belong to the access token.')
  config.log.once(
    `at_hash of the provider's ${algorithm} ID tokens is neither SHA-512 nor SHA-256 of the access token: it is ignored.`,
  )
}

function checkOrganization(claims: JsonObject, organization: string | undefined, { config }: Provider): void {
  if (!organization) return
  const isIt = isOfOrganization(config, claims, organization)
  assert(isIt, 'org_id or org_name is not the requested organization.', 'ID_TOKEN_ORGANIZATION')
}

function sameAudiences(one: JsonObject, other: JsonObject): boolean {
  const [first, second] = [one, other].map((claims) =>
    JSON.stringify([...new Set(toAudiences(claims))].sort()),
  )
  return first === second
}

/** Checks that a token is about the user, issuer, audiences and organization of the session. */
export function checkSuccession(
  claims: JsonObject,
  { previous, subject }: Pick<IdTokenChecks, 'previous' | 'subject'>,
): void {
  assert(subject === undefined || claims['sub'] === subject, 'sub is not the requested user.')
  if (!previous) return
  for (const name of ['iss', 'sub'] as const) {
    const known = previous[name] !== undefined
    assert(!known || claims[name] === previous[name], `${name} is not that of the ID token before.`)
  }
  const known = previous['aud'] !== undefined
  assert(!known || sameAudiences(claims, previous), 'aud is not that of the ID token before.')
  assert(isSameOrganization(claims, previous), 'org_id or org_name is not that of the ID token before.')
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
  const signed = await openToken(provider, token, kind)
  const { claims } = signed
  const moment = toVerificationClock(provider)
  checkParties(claims, provider.config.clientId)
  checkLifetime(claims, moment, checks.startedAt)
  assert(
    checks.nonce === undefined || claims['nonce'] === checks.nonce,
    'nonce is not the one that was sent.',
    'ID_TOKEN_NONCE',
  )
  checkAuthenticationAge(claims, moment, checks.maxAge)
  await checkAccessTokenHash(signed, checks.accessToken, provider)
  checkOrganization(claims, checks.organization, provider)
  checkSuccession(claims, checks)
  // What was checked above includes the type of each member that the type promises.
  return claims as IdTokenClaims
}
