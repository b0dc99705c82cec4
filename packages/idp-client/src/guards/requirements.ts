import type { Authentication } from '../session/model/authentication.ts'
import { provenIn } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { coversScope, unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'

/**
 * What a guard demands beside a session; all of it together. It is read off what the provider signed, never off `user`,
 * which hooks may have changed: `auth_time`, `acr` and `amr` as they were proven in this session, by its login, a step-up
 * or an MFA verification. What the provider does not tell counts as not met. A member that is `undefined` demands
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
export interface ClaimContext {
  /** Seconds since the epoch by the provider's clock. */
  readonly now: number
  /** Seconds by which its times may be off. */
  readonly tolerance: number
  /** Scope that every login of the session's audience is asked for. */
  readonly configuredScope: string
  readonly isOfOrganization: (claims: { readonly [claim: string]: unknown }, organization: string) => boolean
}

type Claims = Readonly<Partial<Record<'auth_time' | 'acr' | 'amr' | 'org_id' | 'org_name', unknown>>>

type Session = Pick<StoredSession, 'authentication' | 'data' | 'ownScope'>

/** Only what was said: nothing that a prototype lends to every object. */
function own(claims: Claims = {}): Claims {
  return Object.assign(Object.create(null) as Claims, claims)
}

/** What the kept ID token says where it is the latest word: a refresh may tell of less than what was proven before. */
function current({ data: { tokenSet } }: Session, proven: Authentication): Claims {
  return own(proven.ahead ? {} : decodeClaims(tokenSet.idToken))
}

function isRecent(claims: Claims, maxAge: number, { now, tolerance }: ClaimContext): boolean {
  const { auth_time: authTime } = claims
  if (typeof authTime !== 'number' || !Number.isFinite(authTime)) return false
  return authTime <= now + tolerance && authTime + maxAge + tolerance >= now
}

const isNamed = (claim: unknown): boolean => claim !== undefined && claim !== null

function isOfContext({ acr }: Claims, wanted: readonly string[]): boolean {
  return wanted.some((one) => one === acr)
}

function hasMethods({ amr }: Claims, wanted: readonly string[]): boolean {
  return Array.isArray(amr) && wanted.every((method) => amr.includes(method))
}

function isAuthenticated(
  session: Session,
  { acr, amr, maxAge }: Requirements,
  reading: ClaimContext,
): boolean {
  const authentication = provenIn(session)
  const proven = own(authentication)
  if (maxAge !== undefined && !isRecent(proven, maxAge, reading)) return false
  if (!acr && !amr) return true
  const now = current(session, authentication)
  if (acr && !(isOfContext(proven, acr) && (!isNamed(now.acr) || isOfContext(now, acr)))) return false
  return !amr || (hasMethods(proven, amr) && (!isNamed(now.amr) || hasMethods(now, amr)))
}

function organizationClaims(session: Session): Claims {
  const { idToken } = session.data.tokenSet
  return own(idToken === undefined ? provenIn(session) : decodeClaims(idToken))
}

/**
 * A token response that names no scope grants what was requested (RFC 6749 section 5.1). Of that only what the application
 * requested counts: the author of a login link must not choose what passes a guard.
 */
function hasScope({ data, ownScope }: Session, scope: readonly string[], reading: ClaimContext): boolean {
  const { requestedScope, scope: granted }: Readonly<Record<string, unknown>> = { ...data.tokenSet }
  const wanted = scope.join(' ')
  if (granted !== undefined) return typeof granted === 'string' && coversScope(granted, wanted)
  const own = unitedScope(reading.configuredScope, ownScope)
  return typeof requestedScope === 'string' && coversScope(requestedScope, wanted) && coversScope(own, wanted)
}

/** What of the requirements a session does not meet; null when it meets them all. Pure. */
export function findUnmet(requirements: Requirements, session: Session, reading: ClaimContext): Unmet | null {
  const { acr, amr, maxAge, organization, scope } = requirements
  const isDemanding = maxAge !== undefined || acr !== undefined || amr !== undefined
  if (isDemanding && !isAuthenticated(session, requirements, reading)) return 'authentication'
  if (organization) {
    const claims = organizationClaims(session)
    const isIn = (one: string): boolean => reading.isOfOrganization(claims, one)
    if (!organization.some(isIn)) return 'organization'
  }
  return scope && !hasScope(session, scope, reading) ? 'scope' : null
}
