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
import { fingerprintOfRequest } from '../transaction/requested-authentication.ts'
import type { ClaimContext, Requirements, Unmet } from './requirements.ts'
import { findUnmet } from './requirements.ts'

/** Query parameters of the login route for a login that can bring what is required. */
export type LoginParameters = Readonly<Record<string, string>>

export type Verdict =
  | { readonly kind: 'granted'; readonly session: SessionData }
  | { readonly kind: 'unauthenticated'; readonly login: LoginParameters }
  | { readonly kind: 'insufficient'; readonly unmet: Unmet; readonly login: LoginParameters }
  /** Just such a login has not helped. */
  | { readonly kind: 'exhausted'; readonly unmet: Unmet }

/** Seconds within which a login that did not help is not followed by the same again. */
const PAUSE_SECONDS = 60

/**
 * What a session has that a plain login may not bring. Another guard of the same page may have asked for it: without it,
 * the two would send the browser back and forth.
 */
function heldBy(session: StoredSession): Requirements {
  const { acr, org_id: id, org_name: name } = provenIn(session)
  const organization = [id, name].find((value) => typeof value === 'string' && value)
  return {
    ...(typeof acr === 'string' && /^[\x21-\x7e]+$/.test(acr) ? { acr: [acr] } : {}),
    ...(typeof organization === 'string' ? { organization: [organization] } : {}),
    ...(session.ownScope === undefined ? {} : { scope: [session.ownScope] }),
  }
}

/** Scope that a login link has added, which the next login asks for as a link does. */
function addedScope({ authorization }: Config, { data, ownScope }: StoredSession): string {
  const { audience, requestedScope } = data.tokenSet
  if (audience !== authorization.audience) return ''
  return beyondScope(requestedScope, unitedScope(effectiveScope(authorization, audience), ownScope))
}

/** The login that a guard sends the browser to. */
interface GuardLogin {
  readonly guard: GuardParameters
  /** As a login link would add it. */
  readonly scope: string
}

/** Of several organizations the user chooses at the provider: an empty one means none, whatever is configured. */
function organizationParameter(
  { parameters }: AuthorizationConfig,
  wanted: Requirements['organization'] = [],
): GuardParameters {
  const configured = parameters.get('organization')
  const [only, ...others] = wanted
  if (only === undefined) return {}
  if (others.length === 0) return { organization: only }
  return configured === undefined || wanted.includes(configured) ? {} : { organization: '' }
}

/**
 * All that is required goes into one login, met or not, and what the session has already, so that a second one does not
 * undo the first. A configured `max_age` that is shorter stays.
 */
function toGuardLogin(config: Config, requirements: Requirements, session?: StoredSession): GuardLogin {
  const { authorization } = config
  const held = session ? heldBy(session) : {}
  const { acr, maxAge, organization } = { ...held, ...requirements }
  const scope = unitedScope(...(held.scope ?? []), ...(requirements.scope ?? []))
  const age = maxAge === undefined ? undefined : Math.min(maxAge, authorization.maxAge ?? maxAge)
  const guard = {
    ...(age === undefined ? {} : { max_age: String(age) }),
    ...(acr ? { acr_values: acr.join(' ') } : {}),
    ...organizationParameter(authorization, organization),
    ...(scope === '' ? {} : { scope }),
  }
  return { guard, scope: session ? addedScope(config, session) : '' }
}

/** The fingerprint that a session of this login has. */
async function toFingerprint(config: Config, { guard, scope }: GuardLogin): Promise<string | undefined> {
  const { authorization } = config
  const { scope: guardScope, ...changes } = guard
  const sent = extendedScope(authorization, authorization.audience, unitedScope(scope, guardScope))
  const { parameters } = effectiveAuthorization(config, { ...changes, scope: sent })
  const ownScope = beyondScope(guardScope, effectiveScope(authorization, authorization.audience))
  return fingerprintOfRequest({ parameters, ownScope }, effectiveAuthorization(config, {}))
}

/** Query parameters of the login route for it. */
async function toLoginParameters(engine: Engine, { guard, scope }: GuardLogin): Promise<LoginParameters> {
  const isDemanding = Object.keys(guard).length > 0
  return {
    ...(scope === '' ? {} : { scope }),
    ...(isDemanding ? { [GUARD_PARAMETER]: await sealGuardParameters(engine, guard) } : {}),
  }
}

/** Times are compared as at the callback, so that what it lets through is not refused right behind it. */
function toClaimContext(now: number, config: Config, { data }: StoredSession): ClaimContext {
  const { authorization, dpop } = config
  return {
    now: serverTime({ clock: () => now, dpop }),
    tolerance: dpop.clockTolerance,
    configuredScope: effectiveScope(authorization, mainAudience(authorization, data)),
    isOfOrganization: (claims, organization) => isOfOrganization(config, claims, organization),
  }
}

/**
 * Whether this session came from a login with the same parameters, just now, and was no better when it began: a provider
 * that ignores a parameter would otherwise send the browser round for ever.
 */
async function isTried(
  { config }: Engine,
  session: StoredSession,
  requirements: Requirements,
  login: GuardLogin,
): Promise<boolean> {
  const { requestedAuthentication, data } = session
  const { createdAt } = data.internal
  if (Math.abs(config.clock() - createdAt) >= PAUSE_SECONDS) return false
  if (requestedAuthentication !== (await toFingerprint(config, login))) return false
  return findUnmet(requirements, session, toClaimContext(createdAt, config, session)) !== null
}

/** Whether the request has a session that meets the requirements, and which login would bring one. Never writes. */
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
  const missing = findUnmet(requirements, session, toClaimContext(config.clock(), config, session))
  if (missing === null) return { kind: 'granted', session: detachedCopy(session.data) }
  const login = toGuardLogin(config, requirements, session)
  return (await isTried(engine, session, requirements, login))
    ? { kind: 'exhausted', unmet: missing }
    : { kind: 'insufficient', unmet: missing, login: await toLoginParameters(engine, login) }
}
