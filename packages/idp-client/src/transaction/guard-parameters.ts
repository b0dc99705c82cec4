import type { Config } from '../config/config.ts'
import { constantTimeEqual } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { strictText, utf8 } from '../lib/utf8.ts'

/** Query parameter of the login route that contains the requirements of a guard. */
export const GUARD_PARAMETER = 'guard'

/** How long it is valid, in seconds: a page may show the login link for a while. */
const LIFETIME = 600

const NAMES = ['acr_values', 'max_age', 'organization', 'scope'] as const

/** Authorization parameters that a guard requires in addition to the configured ones. */
export type GuardParameters = Readonly<Partial<Record<(typeof NAMES)[number], string>>>

export interface GuardParts {
  readonly config: Pick<Config, 'clock'>
  readonly sealer: Sealer
  readonly clientTag: () => MaybePromise<string>
}

/**
 * Encrypts the requirements of a guard for the login URL, so that a login link cannot forge them. They are not bound to a
 * user: everyone who has the value could also open the guarded page. So nothing of a session may be among them.
 */
export async function sealGuardParameters(parts: GuardParts, parameters: GuardParameters): Promise<string> {
  const { clientTag, config, sealer } = parts
  const json = JSON.stringify({ v: 1, i: config.clock(), c: await clientTag(), p: parameters })
  return sealer.seal('guard', utf8(json))
}

/** Decrypts the requirements of a guard of this client, at most 10 minutes old. Null for any other value; never throws. */
export function openGuardParameters(
  parts: GuardParts,
  sealed: unknown,
): MaybePromise<GuardParameters | null> {
  return typeof sealed === 'string' ? open(parts, sealed) : null
}

async function open(
  { clientTag, config, sealer }: GuardParts,
  sealed: string,
): Promise<GuardParameters | null> {
  const bytes = await sealer.open('guard', sealed)
  if (!bytes) return null
  try {
    const { c, i, p, v } = JSON.parse(strictText(bytes)) as Record<string, unknown>
    if (v !== 1 || typeof i !== 'number' || typeof c !== 'string') return null
    if (config.clock() - i >= LIFETIME || !constantTimeEqual(c, await clientTag())) return null
    const given = new Map(Object.entries(Object(p)))
    const known = NAMES.map((name) => [name, given.get(name)] as const)
    return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'))
  } catch {
    return null
  }
}
