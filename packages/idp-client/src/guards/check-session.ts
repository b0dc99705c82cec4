import type { AuthorizationConfig, Config } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { isOfOrganization } from '../oidc/organization.ts'
import { serverTime } from '../oidc/server-time.ts'
import { provenIn } from '../session/model/authentication.ts'
import { detachedCopy } from '../session/model/detached.ts'
import { beyondScope, unitedScope } from '../session/model/scope.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { mainAudience } from '../tokens/select.ts'
import { effectiveAuthorization, effectiveScope, extendedScope } from '../transaction/authorization.ts'
import type { GuardParameters } from '../transaction/guard-parameters.ts'
import { GUARD_PARAMETER, sealGuardParameters, withSessionTag } from '../transaction/guard-parameters.ts'
import { toRequestFingerprint } from '../transaction/requested-authentication.ts'
import type { ClaimContext, Requirements, Unmet } from './requirements.ts'
import { findUnmet } from './requirements.ts'

/** Query parameters of the login route for a login that can meet the requirements. */
export type LoginParameters = Readonly<Record<string, string>>

export type Verdict =
  | { readonly kind: 'granted'; readonly session: SessionData }
  | { readonly kind: 'unauthenticated'; readonly login: LoginParameters }
  | { readonly kind: 'insufficient'; readonly unmet: Unmet; readonly login: LoginParameters }
  /** An identical login has just failed to meet the requirements. */
  | { readonly kind: 'exhausted'; readonly unmet: Unmet }

/** Seconds for which a login that did not meet the requirements is not repeated. */
const PAUSE_SECONDS = 60

/** Seconds after a login within which the login for another guard counts as its continuation. */
const DETOUR_SECONDS = 5

/** Maximum number of logins in a row that are remembered. */
const MAX_TRIED = 8

/**
 * Returns what the application required of a session beyond what every login requests. Another guard of the same page may
 * have required it: without it, the two would redirect the browser in a loop. Claims that nobody requested are no
 * requirement: a provider may send `acr` in every ID token, and requesting it again would cause a new prompt.
 */
function toProvenRequirements(session: StoredSession): Requirements {
  const { org_id: id, org_name: name, requestedAcr } = provenIn(session)
  const organization = [id, name].find((value) => typeof value === 'string' && value)
  return {
    ...(requestedAcr === undefined ? {} : { acr: requestedAcr.split(' ') }),
    ...(typeof organization === 'string' ? { organization: [organization] } : {}),
    ...(session.ownScope === undefined ? {} : { scope: [session.ownScope] }),
  }
}

/** Returns the scope that a login link has added; the next login requests it in the same way. */
function addedScope({ authorization }: Config, { data, ownScope }: StoredSession): string {
  const { audience, requestedScope } = data.tokenSet
  if (audience !== authorization.audience) return ''
  return beyondScope(requestedScope, unitedScope(effectiveScope(authorization, audience), ownScope))
}

/**
 * Returns the `organization` parameter. Of several organizations the user chooses at the provider: an empty value
 * overrides the configured one.
 */
function organizationParameter(
  { parameters }: AuthorizationConfig,
  required: Requirements['organization'] = [],
): GuardParameters {
  const configured = parameters.get('organization')
  const [only, ...others] = required
  if (only === undefined) return {}
  if (others.length === 0) return { organization: only }
  return configured === undefined || required.includes(configured) ? {} : { organization: '' }
}

/**
 * Combines all requirements, met or not, with what the session has already proven, so that a second login does not undo
 * the first. A shorter configured `max_age` wins.
 */
function toGuardLogin(config: Config, requirements: Requirements, session?: StoredSession): GuardParameters {
  const { authorization } = config
  const proven = session ? toProvenRequirements(session) : {}
  const { acr, maxAge, organization } = { ...proven, ...requirements }
  const scope = unitedScope(...(proven.scope ?? []), ...(requirements.scope ?? []))
  const age = maxAge === undefined ? undefined : Math.min(maxAge, authorization.maxAge ?? maxAge)
  const linkScope = session ? addedScope(config, session) : ''
  return {
    ...(age === undefined ? {} : { max_age: String(age) }),
    ...(acr ? { acr_values: acr.join(' ') } : {}),
    ...organizationParameter(authorization, organization),
    ...(scope === '' ? {} : { scope }),
    ...(linkScope === '' ? {} : { link_scope: linkScope }),
  }
}

/** Returns the fingerprint of a session that this login would create. */
async function toFingerprint(config: Config, guard: GuardParameters): Promise<string | undefined> {
  const { authorization } = config
  const { link_scope: linkScope, scope: guardScope, ...changes } = guard
  const furtherScope = unitedScope(linkScope, guardScope)
  const requestedScope = extendedScope(authorization, authorization.audience, furtherScope)
  const { parameters } = effectiveAuthorization(config, { ...changes, scope: requestedScope })
  const ownScope = beyondScope(guardScope, effectiveScope(authorization, authorization.audience))
  return toRequestFingerprint({ parameters, ownScope }, effectiveAuthorization(config, {}))
}

/** Returns the query parameters of the login route for a login. */
async function toLoginParameters(engine: Engine, guard: GuardParameters): Promise<LoginParameters> {
  const hasParameters = Object.keys(guard).length > 0
  return hasParameters ? { [GUARD_PARAMETER]: await sealGuardParameters(engine, guard) } : {}
}

/**
 * Creates the context in which claims are compared at a time. Uses the clock skew and tolerance of the callback, so that a
 * new login is not rejected immediately.
 */
function toClaimContext(config: Config, { data }: StoredSession, time: number): ClaimContext {
  const { authorization, dpop } = config
  return {
    now: serverTime({ clock: () => time, dpop }),
    tolerance: dpop.clockTolerance,
    configuredScope: effectiveScope(authorization, mainAudience(authorization, data)),
    isOfOrganization: (claims, organization) => isOfOrganization(config, claims, organization),
  }
}

/** Returns the fingerprints of the login that created a session, and of those just before. */
function toTried({ requestedAuthentication = '' }: StoredSession): string[] {
  return requestedAuthentication.split(' ').slice(0, MAX_TRIED)
}

/**
 * Adds the logins before this one, if nobody can have acted since: another guard of the same page requires this login, and
 * two guards that undo each other must not redirect the browser for ever.
 */
function afterOthers({ clock }: Config, session: StoredSession, login: GuardParameters): GuardParameters {
  const isDetour = Math.abs(clock() - session.data.internal.createdAt) < DETOUR_SECONDS
  const tried = isDetour ? toTried(session).join(' ').trim() : ''
  return tried === '' ? login : { ...login, tried }
}

/**
 * Returns whether this session was just created by a login with the same parameters, or after one, and did not meet the
 * requirements even then. A provider that ignores a parameter would otherwise cause a redirect loop.
 */
async function wasJustTried(
  { config }: Engine,
  session: StoredSession,
  requirements: Requirements,
  login: GuardParameters,
): Promise<boolean> {
  const { createdAt } = session.data.internal
  if (Math.abs(config.clock() - createdAt) >= PAUSE_SECONDS) return false
  if (!toTried(session).includes((await toFingerprint(config, login)) ?? '')) return false
  return findUnmet(requirements, session, toClaimContext(config, session, createdAt)) !== null
}

/**
 * Checks whether the request has a session that meets the requirements, and if not, which login would. Never writes.
 */
export async function checkSession(
  engine: Engine,
  exchange: Exchange,
  requirements: Requirements,
): Promise<Verdict> {
  const { config } = engine
  const session = await engine.sessions.load(exchange)
  if (!session)
    return {
      kind: 'unauthenticated',
      login: await toLoginParameters(engine, toGuardLogin(config, requirements)),
    }
  const unmet = findUnmet(requirements, session, toClaimContext(config, session, config.clock()))
  if (unmet === null) return { kind: 'granted', session: detachedCopy(session.data) }
  const login = toGuardLogin(config, requirements, session)
  if (await wasJustTried(engine, session, requirements, login)) return { kind: 'exhausted', unmet }
  const guard = await withSessionTag(afterOthers(config, session, login), session)
  return { kind: 'insufficient', unmet, login: await toLoginParameters(engine, guard) }
}
