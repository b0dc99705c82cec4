import { encode } from 'jose/base64url'
import { OAuthError } from '../errors/provider.ts'
import { utf8 } from '../lib/base64url.ts'
import type { JsonObject } from './json.ts'
import { isOfOrganization } from './organization.ts'
import type { Provider } from './provider.ts'
import type { Demand, Moment, TokenKind } from './signed-token.ts'
import { audiencesOf, checkTimes, demandOf, isTime, momentOf, openToken } from './signed-token.ts'

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
  /** Claims of the ID token that this one follows (OpenID Connect Core 12.2). */
  readonly previous?: JsonObject
}

function refuse(detail: string): never {
  throw new OAuthError('ID_TOKEN_INVALID', { detail })
}

const demand: Demand = demandOf(refuse)

const kind: TokenKind = {
  refuse,
  accepts: (typ) => !(typeof typ === 'string' && typ.toLowerCase().endsWith('+jwt')),
}

function checkParties(claims: JsonObject, clientId: string): void {
  const { sub, azp } = claims
  demand(typeof sub === 'string' && sub !== '', 'sub is missing or no text.')
  demand(azp === undefined || azp === clientId, 'azp is not the client id.')
  demand(
    audiencesOf(claims).length === 1 || azp === clientId,
    'aud names further audiences without azp being the client id.',
  )
}

function checkLifetime(claims: JsonObject, moment: Moment, startedAt: number | undefined): void {
  demand(claims['exp'] !== undefined, 'exp is missing.')
  const iat = checkTimes(claims, moment, demand)
  const tooOld = startedAt !== undefined && iat < startedAt + moment.skew - moment.tolerance
  demand(!tooOld, 'iat is older than the login: compare the clocks of both servers.')
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

function checkOrganization(claims: JsonObject, organization: string | undefined, { config }: Provider): void {
  if (!organization) return
  const isIt = isOfOrganization(config, claims, organization)
  demand(isIt, 'org_id or org_name is not the organization that was asked for.')
}

/**
 * The session stays in its organization, or outside of all. More may be said about the same one: a provider may begin
 * to send its name beside the id.
 */
function checkSameOrganization(claims: JsonObject, previous: JsonObject): void {
  const names = ['org_id', 'org_name'] as const
  const known = names.filter((name) => (previous[name] ?? undefined) !== undefined)
  for (const name of known.length > 0 ? known : names) {
    const [now, before] = [claims, previous].map((all) => JSON.stringify(all[name] ?? undefined))
    demand(now === before, `${name} is not that of the ID token before.`)
  }
}

function sameAudiences(one: JsonObject, other: JsonObject): boolean {
  const [first, second] = [one, other].map((claims) => JSON.stringify([...audiencesOf(claims)].sort()))
  return first === second
}

/** A refreshed token speaks about the same login: what may be absent in it must not be different. */
function checkSuccession(claims: JsonObject, { previous, subject }: IdTokenChecks): void {
  demand(subject === undefined || claims['sub'] === subject, 'sub is not the user whom it was asked for.')
  if (!previous) return
  for (const name of ['iss', 'sub'] as const) {
    demand(claims[name] === previous[name], `${name} is not that of the ID token before.`)
  }
  demand(sameAudiences(claims, previous), 'aud is not that of the ID token before.')
  for (const name of ['azp', 'auth_time', 'nonce'] as const) {
    const comparable = claims[name] !== undefined && previous[name] !== undefined
    demand(!comparable || claims[name] === previous[name], `${name} is not that of the ID token before.`)
  }
  checkSameOrganization(claims, previous)
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
  const { algorithm, claims } = await openToken(provider, token, kind)
  const moment = momentOf(provider)
  checkParties(claims, provider.config.clientId)
  checkLifetime(claims, moment, checks.startedAt)
  demand(
    checks.nonce === undefined || claims['nonce'] === checks.nonce,
    'nonce is not the one that was sent.',
  )
  checkAuthenticationAge(claims, moment, checks.maxAge)
  await checkAccessTokenHash(claims, algorithm, checks.accessToken)
  checkOrganization(claims, checks.organization, provider)
  checkSuccession(claims, checks)
  // What was checked above includes the type of each member that the type promises.
  return claims as IdTokenClaims
}
