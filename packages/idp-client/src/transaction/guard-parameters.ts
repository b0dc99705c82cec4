import type { Config } from '../config/config.ts'
import { constantTimeEqual, hashToken } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { strictText, utf8 } from '../lib/utf8.ts'
import type { StoredSession } from '../session/model/stored-session.ts'

/** Query parameter of the login route that contains the requirements of a guard. */
export const GUARD_PARAMETER = 'guard'

/** How long it is valid, in seconds: a page may show the login link for a while. */
const LIFETIME = 600

/**
 * `link_scope` was added by a login link before, and `tried` has the fingerprints of the logins just before. Both come from
 * the session with the tag `session`.
 */
const NAMES = ['acr_values', 'max_age', 'organization', 'scope', 'link_scope', 'tried', 'session'] as const

/** Authorization parameters that a guard requires in addition to the configured ones. */
export type GuardParameters = Readonly<Partial<Record<(typeof NAMES)[number], string>>>

export interface GuardParts {
  readonly config: Pick<Config, 'clock'>
  readonly sealer: Sealer
  readonly clientTag: () => MaybePromise<string>
}

const toTag = ({ sessionKey }: StoredSession): MaybePromise<string> => hashToken(`guard ${sessionKey}`)

/** Adds the tag of the session that `link_scope` or `tried` come from. */
export function withSessionTag(
  parameters: GuardParameters,
  session: StoredSession,
): MaybePromise<GuardParameters> {
  if (parameters.link_scope === undefined && parameters.tried === undefined) return parameters
  return chain(toTag(session), (tag) => ({ ...parameters, session: tag }))
}

/**
 * Leaves out `link_scope` and `tried` unless they come from the current session. A page of another site cannot set `scope`;
 * otherwise it could link with the parameters that an attacker got in a session of their own.
 */
export function withoutOtherSession(
  { session: tag, ...parameters }: GuardParameters,
  loadSession: () => MaybePromise<StoredSession | null>,
): MaybePromise<GuardParameters> {
  const { link_scope: _linkScope, tried: _tried, ...requirements } = parameters
  if (tag === undefined) return requirements
  return chain(loadSession(), (session) =>
    chain(session && toTag(session), (current) => (current === tag ? parameters : requirements)),
  )
}

/**
 * Encrypts the requirements of a guard for the login URL, so that a login link cannot forge them. They are not bound to a
 * user: everyone who has the value could also open the guarded page.
 */
export async function sealGuardParameters(parts: GuardParts, parameters: GuardParameters): Promise<string> {
  const { clientTag, config, sealer } = parts
  const json = JSON.stringify({ v: 1, i: config.clock(), c: await clientTag(), p: parameters })
  return sealer.seal('guard', utf8(json))
}

/** Decrypts the requirements of a guard of this client, at most 10 minutes old. Empty for any other value; never throws. */
export function openGuardParameters(parts: GuardParts, sealed: unknown): MaybePromise<GuardParameters> {
  return typeof sealed === 'string' ? open(parts, sealed) : {}
}

async function open({ clientTag, config, sealer }: GuardParts, sealed: string): Promise<GuardParameters> {
  const bytes = await sealer.open('guard', sealed)
  if (!bytes) return {}
  try {
    const { c, i, p, v } = JSON.parse(strictText(bytes)) as Record<string, unknown>
    if (v !== 1 || typeof i !== 'number' || typeof c !== 'string') return {}
    if (config.clock() - i >= LIFETIME || !constantTimeEqual(c, await clientTag())) return {}
    const given = new Map(Object.entries(Object(p)))
    const known = NAMES.map((name) => [name, given.get(name)] as const)
    return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'))
  } catch {
    return {}
  }
}
