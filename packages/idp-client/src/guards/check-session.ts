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
import { GUARD_PARAMETER, sealGuardParameters } from '../transaction/guard-parameters.ts'
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

/**
 * Returns what a session has proven that a plain login may not prove again. Another guard of the same page may require
 * it: without it, the two would redirect the browser in a loop.
 */
function toProvenRequirements(session: StoredSession): Requirements {
  const { acr, org_id: id, org_name: name } = provenIn(session)
  const organization = [id, name].find((value) => typeof value === 'string' && value)
  return {
    ...(typeof acr === 'string' && /^[\x21-\x7e]+$/.test(acr) ? { acr: [acr] } : {}),
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

/** The login that a guard redirects to. */
interface GuardLogin {
  readonly guard: GuardParameters
  /** Scope to add as a login link does. */
  readonly scope: string
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
function toGuardLogin(config: Config, requirements: Requirements, session?: StoredSession): GuardLogin {
  const { authorization } = config
  const proven = session ? toProvenRequirements(session) : {}
  const { acr, maxAge, organization } = { ...proven, ...requirements }
  const scope = unitedScope(...(proven.scope ?? []), ...(requirements.scope ?? []))
  const age = maxAge === undefined ? undefined : Math.min(maxAge, authorization.maxAge ?? maxAge)
  const guard = {
    ...(age === undefined ? {} : { max_age: String(age) }),
    ...(acr ? { acr_values: acr.join(' ') } : {}),
    ...organizationParameter(authorization, organization),
    ...(scope === '' ? {} : { scope }),
  }
  return { guard, scope: session ? addedScope(config, session) : '' }
}

/** Returns the fingerprint of a session that this login would create. */
async function toFingerprint(config: Config, { guard, scope }: GuardLogin): Promise<string | undefined> {
  const { authorization } = config
  const { scope: guardScope, ...changes } = guard
  const requestedScope = extendedScope(authorization, authorization.audience, unitedScope(scope, guardScope))
  const { parameters } = effectiveAuthorization(config, { ...changes, scope: requestedScope })
  const ownScope = beyondScope(guardScope, effectiveScope(authorization, authorization.audience))
  return toRequestFingerprint({ parameters, ownScope }, effectiveAuthorization(config, {}))
}

/** Returns the query parameters of the login route for a login. */
async function toLoginParameters(engine: Engine, { guard, scope }: GuardLogin): Promise<LoginParameters> {
  const hasParameters = Object.keys(guard).length > 0
  return {
    ...(scope === '' ? {} : { scope }),
    ...(hasParameters ? { [GUARD_PARAMETER]: await sealGuardParameters(engine, guard) } : {}),
  }
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

/**
 * Returns whether this session was just created by a login with the same parameters and did not meet the requirements
 * even then. A provider that ignores a parameter would otherwise cause a redirect loop.
 */
async function wasJustTried(
  { config }: Engine,
  session: StoredSession,
  requirements: Requirements,
  login: GuardLogin,
): Promise<boolean> {
  const { requestedAuthentication, data } = session
  const { createdAt } = data.internal
  if (Math.abs(config.clock() - createdAt) >= PAUSE_SECONDS) return false
  if (requestedAuthentication !== (await toFingerprint(config, login))) return false
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
  return (await wasJustTried(engine, session, requirements, login))
    ? { kind: 'exhausted', unmet }
    : { kind: 'insufficient', unmet, login: await toLoginParameters(engine, login) }
}
