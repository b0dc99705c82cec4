import { isObject, isSameJson } from '../../lib/objects.ts'
import { decodeClaims } from './claims.ts'
import type { StoredSession } from './stored-session.ts'

/**
 * Claims of the ID token that proved the user's identity in this session: of its login, or of a later step-up or MFA
 * verification. A refresh is compared with them and never changes them, because a refreshed ID token may describe a
 * later authentication at the provider. Empty if no ID token is known.
 */
export type AuthenticationClaims = Readonly<
  Partial<Record<'iss' | 'sub' | 'aud' | 'org_id' | 'org_name' | 'auth_time' | 'acr' | 'amr', unknown>>
> & {
  /** The stored ID token is older than this authentication, so it does not contain the step-up that was verified later. */
  readonly ahead?: true
  /** The `acr_values` that the application requested for it beyond the configured ones; a login of a guard repeats them. */
  readonly requestedAcr?: string
}

/** A session, of which only the authentication is read. */
type Authenticated = Pick<StoredSession, 'authentication' | 'data'>

const NAMES = ['iss', 'sub', 'aud', 'org_id', 'org_name', 'auth_time', 'acr', 'amr'] as const

/** Claims about how the user authenticated. The others identify user and audience. */
const STEP_UP_NAMES: readonly string[] = ['auth_time', 'acr', 'amr'] satisfies (typeof NAMES)[number][]

/** Returns the claims of a verified ID token that belong to an `Authentication`. */
export function toAuthentication(claims: Readonly<Record<string, unknown>> = {}): AuthenticationClaims {
  const present = NAMES.filter(
    (name) => Object.hasOwn(claims, name) && (claims[name] ?? undefined) !== undefined,
  )
  return Object.fromEntries(present.map((name) => [name, claims[name]]))
}

/** Returns the authentication in the stored ID token of a session. */
function authenticationInIdToken({ data }: Pick<StoredSession, 'data'>): AuthenticationClaims {
  return toAuthentication(decodeClaims(data.tokenSet.idToken))
}

/** Returns the authentication after a refresh whose ID token is stored. That is newer than a step-up, so guards read both. */
export function besideNewIdToken({ ahead: _ahead, ...claims }: AuthenticationClaims): AuthenticationClaims {
  return claims
}

/** Returns the authentication that was proven in a session. */
export function provenIn(session: Authenticated): AuthenticationClaims {
  return session.authentication ?? authenticationInIdToken(session)
}

/**
 * Returns whose session it is by the ID token that proved that, or without one by `user`, to which a hook may have given another
 * meaning.
 */
export function provenSubject(session: Authenticated): string {
  const { sub } = provenIn(session)
  return typeof sub === 'string' ? sub : session.data.user.sub
}

/** Returns the organization of a session, by id or otherwise by name. */
export function provenOrganization(session: Authenticated): string | undefined {
  const { org_id: id, org_name: name } = provenIn(session)
  return [id, name].find((value): value is string => typeof value === 'string' && value !== '')
}

/**
 * Returns the authentication of a session whose new ID token is not stored: the earlier one stays. A refresh has changed
 * nothing; a step-up is newer than that ID token.
 */
export function besideEarlierIdToken(session: Authenticated, earlier: Authenticated): AuthenticationClaims {
  const [now, before] = [provenIn(session), provenIn(earlier)]
  const isUnchanged = isSameJson(besideNewIdToken(now), besideNewIdToken(before))
  return isUnchanged ? before : { ...now, ahead: true }
}

/** Returns whether the stored ID token contains the whole authentication. */
export function isInIdToken(session: Authenticated): boolean {
  const { authentication } = session
  if (!authentication) return true
  return isSameJson(authentication, authenticationInIdToken(session))
}

/** Parses a stored authentication; undefined if it is not an object. */
export function readAuthentication(stored: unknown): AuthenticationClaims | undefined {
  if (!isObject(stored)) return undefined
  const { ahead, requestedAcr, ...claims } = stored
  return {
    ...toAuthentication(claims),
    ...(ahead === true ? { ahead } : {}),
    ...(typeof requestedAcr === 'string' ? { requestedAcr } : {}),
  }
}

/** Returns the authentication after a step-up whose ID token is not stored: replaces only how the user authenticated. */
export function steppedUpBy(
  session: Authenticated,
  claims: Readonly<Record<string, unknown>>,
): AuthenticationClaims {
  const isStepUp = ([name]: [string, unknown]): boolean => STEP_UP_NAMES.includes(name)
  const before = Object.entries(provenIn(session)).filter((claim) => !isStepUp(claim))
  const now = Object.entries(toAuthentication(claims)).filter(isStepUp)
  return { ...Object.fromEntries([...before, ...now]), ahead: true }
}
