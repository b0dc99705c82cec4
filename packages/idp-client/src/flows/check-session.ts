import type { Config } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { isOfOrganization } from '../oidc/organization.ts'
import { serverTime } from '../oidc/server-time.ts'
import { provenIn } from '../session/authentication.ts'
import { detachedCopy } from '../session/detached.ts'
import type { Reading, Requirements, Unmet } from '../session/requirements.ts'
import { unmet } from '../session/requirements.ts'
import type { SessionData } from '../session/session-data.ts'
import type { StoredSession } from '../session/stored-session.ts'
import { coversScope, unitedScope } from '../tokens/scope.ts'
import { askedFor } from '../transaction/asked.ts'
import { effectiveScope } from '../transaction/authorization.ts'

/** Parameters of a login that can bring what is required. */
export type LoginParameters = Readonly<Record<string, string>>

export type Verdict =
  | { readonly kind: 'granted'; readonly session: SessionData }
  | { readonly kind: 'nobody'; readonly login: LoginParameters }
  | { readonly kind: 'unmet'; readonly unmet: Unmet; readonly login: LoginParameters }
  /** Just such a login has not helped. */
  | { readonly kind: 'futile'; readonly unmet: Unmet }

/** Seconds within which a login that did not help is not followed by the same again. */
const PAUSE_SECONDS = 60

/**
 * What a session has that a plain login may not bring. Another guard of the same page may have asked for it: without it,
 * the two would send the browser back and forth.
 */
function heldBy({ authorization }: Config, session: StoredSession): Requirements {
  const { tokenSet } = session.data
  const { acr, org_id: id, org_name: name } = provenIn(session)
  const organization = [id, name].find((value) => typeof value === 'string' && value)
  const isOwn = tokenSet.audience === authorization.audience
  const { requestedScope } = tokenSet
  const isMore =
    isOwn && !coversScope(effectiveScope(authorization, authorization.audience), requestedScope ?? '')
  return {
    ...(typeof acr === 'string' && /^[\x21-\x7e]+$/.test(acr) ? { acr: [acr] } : {}),
    ...(typeof organization === 'string' ? { organization: [organization] } : {}),
    ...(isMore && requestedScope ? { scope: [requestedScope] } : {}),
  }
}

/**
 * All that is required goes into one login, met or not, and what the session has already, so that a second one does not
 * undo the first. A configured `max_age` that is shorter stays. Of several organizations the user chooses at the provider.
 */
function loginFor(config: Config, requirements: Requirements, session?: StoredSession) {
  const { authorization } = config
  const held = session ? heldBy(config, session) : {}
  const { acr, maxAge, organization } = { ...held, ...requirements }
  const scope = [...(held.scope ?? []), ...(requirements.scope ?? [])]
  const configured = effectiveScope(authorization, authorization.audience)
  const [only, ...others] = organization ?? []
  const age = maxAge === undefined ? undefined : Math.min(maxAge, authorization.maxAge ?? maxAge)
  return {
    ...(age === undefined ? {} : { max_age: String(age) }),
    ...(acr ? { acr_values: acr.join(' ') } : {}),
    ...(only === undefined || others.length > 0 ? {} : { organization: only }),
    ...(scope.length > 0 ? { scope: unitedScope(configured, scope.join(' ')) } : {}),
  } satisfies LoginParameters
}

/** Times are compared as at the callback, so that what it lets through is not refused right behind it. */
function readingAt(now: number, config: Config): Reading {
  return {
    now: serverTime({ clock: () => now, dpop: config.dpop }),
    tolerance: config.dpop.clockTolerance,
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
  login: LoginParameters,
): Promise<boolean> {
  const { asked, data } = session
  const { createdAt } = data.internal
  if (Math.abs(config.clock() - createdAt) >= PAUSE_SECONDS) return false
  if (asked !== (await askedFor(login))) return false
  return unmet(requirements, session, readingAt(createdAt, config)) !== null
}

/** Whether the request has a session that meets the requirements, and which login would bring one. Never writes. */
export async function checkSession(
  engine: Engine,
  exchange: Exchange,
  requirements: Requirements,
): Promise<Verdict> {
  const { config } = engine
  const session = await engine.sessions.load(exchange)
  if (!session) return { kind: 'nobody', login: loginFor(config, requirements) }
  const missing = unmet(requirements, session, readingAt(config.clock(), config))
  if (missing === null) return { kind: 'granted', session: detachedCopy(session.data) }
  const login = loginFor(config, requirements, session)
  return (await isTried(engine, session, requirements, login))
    ? { kind: 'futile', unmet: missing }
    : { kind: 'unmet', unmet: missing, login }
}
