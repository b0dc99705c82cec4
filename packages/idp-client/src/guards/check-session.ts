import type { AuthorizationConfig, Config } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { copyJson, defined } from '../lib/objects.ts'
import { provenIn } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { mainAudience } from '../tokens/select.ts'
import { effectiveScope, extendedScope } from '../transaction/authorization.ts'
import type { GuardLogin, GuardParameters } from '../transaction/guard-login.ts'
import {
  GUARD_PARAMETER,
  sealGuardParameters,
  toGuardLogin,
  toLoginRequest,
  toTried,
} from '../transaction/guard-login.ts'
import type { SessionAuth } from './auth.ts'
import type { Requirements, Unmet } from './requirements.ts'
import { findUnmet, toEvidence } from './requirements.ts'

/** Query parameters of the login route for a login that can meet the requirements. */
export type LoginParameters = Readonly<Record<string, string>>

export type SessionVerdict =
  | { readonly kind: 'granted'; readonly session: StoredSession; readonly login?: undefined }
  | { readonly kind: 'unauthenticated'; readonly login: LoginParameters }
  | { readonly kind: 'insufficient'; readonly unmet: Unmet; readonly login: LoginParameters }
  /** An identical login has just failed to meet the requirements. */
  | { readonly kind: 'exhausted'; readonly unmet: Unmet; readonly login?: undefined }

/** Seconds for which a login that did not meet the requirements is not repeated. */
const PAUSE_SECONDS = 60

/**
 * Returns the `organization` parameter. Of several organizations the user chooses at the provider: an empty value
 * overrides the configured one, and that of the session.
 */
function organizationParameter(
  { parameters }: AuthorizationConfig,
  required: Requirements['organization'] = [],
): string | undefined {
  const [only, ...others] = required
  if (others.length === 0) return only
  return required.find((one) => one === parameters.get('organization')) ?? ''
}

/** Returns the parameters of all requirements, met or not. A shorter configured `max_age` wins. */
function toGuardParameters({ authorization }: Config, requirements: Requirements): GuardParameters {
  const { acr, maxAge, organization, scope: required = [] } = requirements
  const scope = unitedScope(...required)
  const age = maxAge === undefined ? undefined : Math.min(maxAge, authorization.maxAge ?? maxAge)
  return defined({
    max_age: age === undefined ? undefined : String(age),
    acr_values: acr ? acr.join(' ') : undefined,
    organization: organizationParameter(authorization, organization),
    scope: scope === '' ? undefined : scope,
  })
}

/** Returns the fingerprint of a session that this login would create. */
async function toFingerprint(config: Config, { linkScope, required }: GuardLogin): Promise<string> {
  const { authorization } = config
  const furtherScope = unitedScope(linkScope, required.scope)
  const scope = extendedScope(authorization, authorization.audience, furtherScope)
  const { fingerprint = '' } = await toLoginRequest(config, { ...required, scope }, required)
  return fingerprint
}

/**
 * Returns the first kind of requirement that the session does not meet at that time. Uses the clock skew and tolerance of the
 * callback, so that a new login is not rejected immediately.
 */
function findUnmetAt(
  time: number,
  { authorization, dpop, vendor }: Config,
  requirements: Requirements,
  session: StoredSession,
): Unmet | null {
  const configuredScope = effectiveScope(authorization, mainAudience(authorization, session.data))
  return findUnmet(requirements, toEvidence(session, configuredScope), { clock: () => time, dpop, vendor })
}

/**
 * Returns whether this session was just created by a login with the same parameters, or after one, and did not meet the
 * requirements even then. A provider that ignores a parameter would otherwise cause a redirect loop.
 */
async function wasJustTried(
  { config }: Engine,
  session: StoredSession,
  requirements: Requirements,
  login: GuardLogin,
): Promise<boolean> {
  const { createdAt } = session.data.internal
  if (Math.abs(config.clock() - createdAt) >= PAUSE_SECONDS) return false
  if (!toTried(session).includes(await toFingerprint(config, login))) return false
  return findUnmetAt(createdAt, config, requirements, session) !== null
}

/**
 * Checks whether the request has a session that meets the requirements, and if not, which login would. Never writes.
 */
export async function checkSession(
  engine: Engine,
  exchange: Exchange,
  requirements: Requirements,
): Promise<SessionVerdict> {
  const { config } = engine
  const required = toGuardParameters(config, requirements)
  const seal = async (): Promise<LoginParameters> => ({
    [GUARD_PARAMETER]: await sealGuardParameters(engine, required),
  })
  const session = await engine.sessions.load(exchange)
  if (!session)
    return { kind: 'unauthenticated', login: Object.keys(required).length === 0 ? {} : await seal() }
  const unmet = findUnmetAt(config.clock(), config, requirements, session)
  if (!unmet) return { kind: 'granted', session }
  const login = toGuardLogin(config, required, session)
  return (await wasJustTried(engine, session, requirements, login))
    ? { kind: 'exhausted', unmet }
    : { kind: 'insufficient', unmet, login: await seal() }
}

/** Returns the user of a session; `scope` is that of the access token of the login. */
export function toSessionAuth(stored: StoredSession): SessionAuth {
  const session = copyJson(stored.data)
  const { tokenSet, user } = session
  const { sub = user.sub } = provenIn(stored)
  const claims = decodeClaims(tokenSet.idToken) ?? { sub }
  return { kind: 'session', sub: String(sub), isClient: false, scope: tokenSet.scope ?? '', claims, session }
}
