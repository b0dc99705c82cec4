import type { Config } from '../config/config.ts'
import { defined } from '../lib/defined.ts'
import { provenIn } from '../session/model/authentication.ts'
import { beyondScope, unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { effectiveScope } from './authorization.ts'
import type { GuardParameters } from './guard-parameters.ts'

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
  return beyondScope(requestedScope, unitedScope(effectiveScope(authorization, audience), ownScope))
}

/** Returns the fingerprints of the login that created a session, and of those just before. */
export function toTried({ requestedAuthentication = '' }: StoredSession): string[] {
  return requestedAuthentication.split(' ').slice(0, MAX_TRIED)
}

/**
 * Returns the logins before this one, if nobody can have acted since: another guard of the same page requires this login, and
 * two guards that undo each other must not redirect the browser for ever.
 */
function justTried({ clock }: Config, session: StoredSession): string[] {
  const isDetour = Math.abs(clock() - session.data.internal.createdAt) < DETOUR_SECONDS
  return isDetour ? toTried(session).filter(Boolean) : []
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
  const { org_id: id, org_name: name, requestedAcr } = provenIn(session)
  const organization = [id, name].find((value) => typeof value === 'string' && value)
  const scope = unitedScope(session.ownScope, required.scope)
  return {
    required: defined({
      acr_values: requestedAcr,
      organization: typeof organization === 'string' ? organization : undefined,
      ...required,
      scope: scope === '' ? undefined : scope,
    }),
    linkScope: addedScope(config, session),
    tried: justTried(config, session),
  }
}
