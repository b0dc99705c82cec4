import type { Config } from '../config/config.ts'
import type { Remedy } from '../errors/remedy.ts'
import { isAbsent, isSameJson } from '../lib/objects.ts'
import { isSameName } from '../lib/same-name.ts'
import type { JsonObject } from './json.ts'

/** Checks of single claims, for every kind of token and for guards. */

/** Throws the error of a kind of token. */
export type Refuse = (detail: string, remedy?: Remedy) => never

/** Rejects the token with this detail and remedy if the condition is false. */
export type Assert = (condition: boolean, detail: string, remedy?: Remedy) => asserts condition

export function createAssert(refuse: Refuse): Assert {
  return (condition, detail, remedy) => {
    if (!condition) refuse(detail, remedy)
  }
}

/** Returns the audiences of a token; `aud` is a string or an array. */
export function toAudiences({ aud }: JsonObject): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud]
}

/** Returns whether a token is for this audience. */
export function isForAudience({ aud }: JsonObject, audience: string): boolean {
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

export function checkIssuerAndAudience(
  claims: JsonObject,
  clientId: string,
  issuer: string,
  assert: Assert,
): void {
  assert(claims['iss'] === issuer, 'iss is not the issuer of the provider.', 'ID_TOKEN_ISSUER')
  assert(toAudiences(claims).includes(clientId), 'aud does not contain the client id.', 'ID_TOKEN_AUDIENCE')
}

/**
 * Returns the current time by the provider's clock, in seconds; for assertions and proofs, and to compare the
 * provider's times with.
 */
export function serverTime({ clock, dpop }: Pick<Config, 'clock' | 'dpop'>): number {
  return clock() + dpop.clockSkew
}

/** The provider's current time and its tolerance, in seconds. */
export interface VerificationClock {
  readonly now: number
  readonly tolerance: number
  /** Seconds by which the provider's clock is ahead of ours. */
  readonly skew: number
}

export function toVerificationClock(config: Pick<Config, 'clock' | 'dpop'>): VerificationClock {
  const { clockSkew: skew, clockTolerance: tolerance } = config.dpop
  return { now: serverTime(config), tolerance, skew }
}

export const isTime = (value: unknown): value is number => Number.isFinite(value)

/** Checks that `iat` is a number, and `exp` and `nbf` if present. Returns `iat`. */
export function checkTimeTypes({ exp, iat, nbf }: JsonObject, assert: Assert): number {
  assert(exp === undefined || isTime(exp), 'exp is not a number.')
  assert(isTime(iat), 'iat is missing or not a number.')
  assert(nbf === undefined || isTime(nbf), 'nbf is not a number.')
  return iat
}

/** Describes a time that a token must not have, and by how much, which is how far the clocks may differ. */
export function toTimeFault(fault: string, seconds: number): string {
  return `${fault} by ${Math.ceil(seconds)} s: compare the clocks of both servers.`
}

/** Returns why a token with these times is not valid now, or `undefined`. */
export function timeFault(
  { exp, iat, nbf }: JsonObject,
  { now, tolerance }: VerificationClock,
): string | undefined {
  if (isTime(exp) && exp <= now - tolerance) return toTimeFault('exp is past', now - exp)
  if (isTime(iat) && iat > now + tolerance) return toTimeFault('iat is in the future', iat - now)
  if (isTime(nbf) && nbf > now + tolerance) return toTimeFault('nbf is in the future', nbf - now)
  return undefined
}

/** Checks `iat`, which is required, and `exp` and `nbf` if present. Returns `iat`. */
export function checkTimes(claims: JsonObject, clock: VerificationClock, assert: Assert): number {
  const iat = checkTimeTypes(claims, assert)
  const fault = timeFault(claims, clock)
  assert(fault === undefined, fault ?? '', 'CLOCKS_DIFFER')
  return iat
}

type OrganizationClaims = Readonly<Partial<Record<'org_id' | 'org_name', unknown>>>

/**
 * Compares the organization of an ID token with that of an earlier one of the session; without any in both it is the same.
 * Compares only claims of the earlier token, because a provider may start to send the name along with the id.
 */
export function compareOrganization(
  claims: OrganizationClaims,
  previous: OrganizationClaims,
): 'same' | 'absent' | 'other' {
  const names = ['org_id', 'org_name'] as const
  const known = names.filter((name) => !isAbsent(previous[name]))
  if (known.length === 0) return names.every((name) => isAbsent(claims[name])) ? 'same' : 'other'
  const present = known.filter((name) => !isAbsent(claims[name]))
  const isEqual = present.every((name) => isSameJson(claims[name], previous[name]))
  if (!isEqual) return 'other'
  return present.length === known.length ? 'same' : 'absent'
}

/**
 * Returns whether claims name this organization, by id (`org_id`) or name (`org_name`). A value that looks like an id
 * is never compared with names: an organization could be named like the id of another one.
 */
export function isOfOrganization(
  config: Pick<Config, 'vendor'>,
  { org_id: id, org_name: name }: OrganizationClaims,
  organization: string,
): boolean {
  if (id === organization) return true
  const isName = !organization.startsWith(config.vendor.organizationIdPrefix)
  return isName && typeof name === 'string' && isSameName(name, organization)
}
