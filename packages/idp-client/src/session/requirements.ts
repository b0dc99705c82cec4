import { coversScope } from '../tokens/scope.ts'
import { claimsOf } from './claims.ts'
import type { SessionData } from './session-data.ts'

/**
 * What a guard demands beside a session; all of it together. It is read off the kept ID token, never off `user`, which
 * hooks may have changed. What the provider does not tell counts as not met. A member that is `undefined` demands
 * nothing; an unknown one, or a value without meaning, throws `InvalidConfigurationError` when the guard is made.
 */
export interface GuardRequirements {
  /** Seconds since the user authenticated (`auth_time`), at most; `dpopOptions.clockTolerance` (60 s) is added. */
  maxAge?: number | undefined
  /** Authentication context class (`acr`): one of these. */
  acr?: string | readonly string[] | undefined
  /** Authentication methods (`amr`, RFC 8176): all of these. A login cannot be asked for them; `acr` can. */
  amr?: string | readonly string[] | undefined
  /** One of these: `org_id` exactly, or `org_name` in upper or lower case where it does not look like an id. */
  organization?: string | readonly string[] | undefined
  /** All of these, granted to the access token of the login. A text may hold several, with a space between. */
  scope?: string | readonly string[] | undefined
}

/** Options of `withApiAuthRequired`. */
export type ApiGuardOptions = GuardRequirements

/** The same, read and found to make sense. */
export interface Requirements {
  /** Seconds. */
  readonly maxAge?: number
  readonly acr?: readonly string[]
  readonly amr?: readonly string[]
  readonly organization?: readonly string[]
  readonly scope?: readonly string[]
}

/** The first kind that is not met: who authenticated how comes before where to, and that before what for. */
export type Unmet = 'authentication' | 'organization' | 'scope'

/** How claims of the provider are to be understood. */
export interface Reading {
  /** Seconds since the epoch by the provider's clock. */
  readonly now: number
  /** Seconds by which its times may be off. */
  readonly tolerance: number
  readonly isOfOrganization: (claims: { readonly [claim: string]: unknown }, organization: string) => boolean
}

type Claims = Readonly<Partial<Record<'auth_time' | 'acr' | 'amr' | 'org_id' | 'org_name', unknown>>>

/** Only what the token itself says: nothing that a prototype lends to every object. */
function told({ tokenSet: { idToken } }: SessionData): Claims {
  return Object.assign(Object.create(null) as Claims, claimsOf(idToken))
}

function isRecent(claims: Claims, maxAge: number, { now, tolerance }: Reading): boolean {
  const { auth_time: authTime } = claims
  if (typeof authTime !== 'number' || !Number.isFinite(authTime)) return false
  return authTime <= now + tolerance && authTime + maxAge + tolerance >= now
}

function isAuthenticated(claims: Claims, { acr, amr, maxAge }: Requirements, reading: Reading): boolean {
  if (maxAge !== undefined && !isRecent(claims, maxAge, reading)) return false
  if (acr && !acr.some((one) => one === claims.acr)) return false
  if (!amr) return true
  const methods: unknown = claims.amr
  return Array.isArray(methods) && amr.every((method) => methods.includes(method))
}

/** An answer that names no scope grants what was asked for (RFC 6749 section 5.1). */
function hasScope({ tokenSet }: SessionData, scope: readonly string[]): boolean {
  const granted: unknown = tokenSet.scope ?? tokenSet.requestedScope
  return typeof granted === 'string' && coversScope(granted, scope.join(' '))
}

/** What of the requirements a session does not meet; null when it meets them all. Pure. */
export function unmet(requirements: Requirements, session: SessionData, reading: Reading): Unmet | null {
  const { acr, amr, maxAge, organization, scope } = requirements
  if (maxAge !== undefined || acr || amr || organization) {
    const claims = told(session)
    if (!isAuthenticated(claims, requirements, reading)) return 'authentication'
    const isIn = (one: string): boolean => reading.isOfOrganization(claims, one)
    if (organization && !organization.some(isIn)) return 'organization'
  }
  return scope && !hasScope(session, scope) ? 'scope' : null
}
