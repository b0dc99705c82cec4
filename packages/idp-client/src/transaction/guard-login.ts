import type { Config } from '../config/config.ts'
import { constantTimeEqual, hashToken } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { decodeJsonObject } from '../lib/json.ts'
import { defined } from '../lib/objects.ts'
import { utf8 } from '../lib/utf8.ts'
import { provenIn, provenOrganization } from '../session/model/authentication.ts'
import { unitedScope, withoutScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { EffectiveAuthorization, ParameterChanges } from './authorization.ts'
import { effectiveAuthorization, effectiveScope } from './authorization.ts'

/** Parameters by which a guard can require more than every login provides; their order is part of the fingerprint. */
const NAMES = ['max_age', 'acr_values', 'organization', 'scope'] as const

/** Query parameter of the login route that contains the requirements of a guard. */
export const GUARD_PARAMETER = 'guard'

/** How long it is valid, in seconds: a page may show the login link for a while. */
const LIFETIME = 600

/** Authorization parameters that a guard requires in addition to the configured ones. */
export type GuardParameters = Readonly<Partial<Record<(typeof NAMES)[number], string>>>

interface GuardParts {
  readonly config: Pick<Config, 'clock'>
  readonly sealer: Sealer
  readonly clientTag: () => MaybePromise<string>
}

/**
 * Encrypts the requirements of a guard for the login URL, so that a login link cannot forge them. They are not bound to a
 * user: everyone who has the value could also open the guarded page. So nothing of a session may be among them.
 */
export async function sealGuardParameters(
  { clientTag, config, sealer }: GuardParts,
  parameters: GuardParameters,
): Promise<string> {
  const json = JSON.stringify({ v: 1, i: config.clock(), c: await clientTag(), p: parameters })
  return sealer.seal('guard', utf8(json))
}

/** Decrypts the requirements of a guard of this client, at most 10 minutes old. Null for any other value; never throws. */
export async function openGuardParameters(
  { clientTag, config, sealer }: GuardParts,
  sealed: unknown,
): Promise<GuardParameters | null> {
  const bytes = typeof sealed === 'string' ? await sealer.open('guard', sealed) : null
  const { c, i, p, v } = decodeJsonObject(bytes) ?? {}
  if (v !== 1 || typeof i !== 'number' || typeof c !== 'string') return null
  if (config.clock() - i >= LIFETIME || !constantTimeEqual(c, await clientTag())) return null
  const given = new Map(Object.entries(Object(p)))
  const known = NAMES.map((name) => [name, given.get(name)] as const)
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'))
}

/** The parameters of an authorization request, and the part of its scope that the application requested (`StoredSession`). */
interface RequestedAuthentication {
  readonly parameters: ReadonlyMap<string, string>
  readonly ownScope?: string
}

/** Leaves out `offline_access`, because it depends on the provider whether that is sent. */
function comparableScope(scope: string | undefined): string {
  const parts = withoutScope(unitedScope(scope), 'offline_access').split(' ')
  return parts.sort().join(' ')
}

function comparable({ ownScope, parameters }: RequestedAuthentication): string {
  const values = NAMES.map((name) => {
    const value = parameters.get(name)
    return name === 'scope' ? comparableScope(value) : (value ?? null)
  })
  return JSON.stringify([...values, comparableScope(ownScope)])
}

/**
 * Returns a fingerprint of the parameters of an authorization request: equal for equal parameters, undefined for those of
 * every login with this configuration. It is stored in the session, so that a guard recognizes the login that it required.
 */
export function toRequestFingerprint(
  sent: RequestedAuthentication,
  configured: Pick<RequestedAuthentication, 'parameters'>,
): MaybePromise<string | undefined> {
  const fingerprint = comparable(sent)
  return fingerprint === comparable(configured) ? undefined : hashToken(fingerprint, 6)
}

/** The authorization request of a login, and what a session stores of it. */
export interface LoginRequest {
  readonly authorization: EffectiveAuthorization
  /** Scope beyond the configured one that the application requested; that of a guard, if one requires the login. */
  readonly ownScope: string
  /** See `toRequestFingerprint`. */
  readonly fingerprint: string | undefined
}

/** Returns the request of a login with these changes of the configured parameters. */
export async function toLoginRequest(
  config: Config,
  changes: ParameterChanges,
  guard: GuardParameters | undefined,
): Promise<LoginRequest> {
  const authorization = effectiveAuthorization(config, changes)
  const { audience, parameters, scope } = authorization
  const configuredScope = effectiveScope(config.authorization, audience)
  const ownScope = withoutScope(guard ? guard.scope : scope, configuredScope)
  const sent = { parameters, ownScope }
  const fingerprint = await toRequestFingerprint(sent, effectiveAuthorization(config, {}))
  return { authorization, ownScope, fingerprint }
}

/** Seconds after a login within which the login for another guard counts as its continuation. */
const DETOUR_SECONDS = 5

/** Maximum number of logins in a row that are remembered. */
const MAX_TRIED = 8

/** The parameters of a login that a guard requires. */
export interface GuardLogin {
  readonly required: GuardParameters
  /** Scope that a login link added before. */
  readonly linkScope: string
  /** Fingerprints of the logins just before. */
  readonly tried: readonly string[]
}

/** Returns the scope that a login link has added; the next login requests it in the same way. */
function addedScope({ authorization }: Config, { data, ownScope }: StoredSession): string {
  const { audience, requestedScope } = data.tokenSet
  if (audience !== authorization.audience) return ''
  return withoutScope(requestedScope, unitedScope(effectiveScope(authorization, audience), ownScope))
}

/** Returns the fingerprints of the login that created a session, and of those just before. */
export function toTried({ requestedAuthentication = '' }: StoredSession): string[] {
  return requestedAuthentication.split(' ').slice(0, MAX_TRIED)
}

/**
 * Combines the requirements of a guard with what the session has already proven, so that a second login does not undo the
 * first. Another guard of the same page may have required it: without it, the two would redirect the browser in a loop.
 * Claims that nobody requested are no requirement: a provider may send `acr` in every ID token, and requesting it again would
 * cause a new prompt.
 *
 * The session has to be that of the request that starts the login, since a link with what another one has proven would let its
 * author choose scope and organization of others.
 */
export function toGuardLogin(
  config: Config,
  required: GuardParameters,
  session: StoredSession | null,
): GuardLogin {
  if (!session) return { required, linkScope: '', tried: [] }
  const { requestedAcr } = provenIn(session)
  // The user cannot have acted since: another guard of the same page requires this login, and two guards that undo each other must
  // not redirect the browser for ever.
  const isDetour = Math.abs(config.clock() - session.data.internal.createdAt) < DETOUR_SECONDS
  return {
    required: defined({
      acr_values: requestedAcr,
      organization: provenOrganization(session),
      ...required,
      scope: unitedScope(session.ownScope, required.scope),
    }),
    linkScope: addedScope(config, session),
    tried: isDetour ? toTried(session).filter(Boolean) : [],
  }
}
