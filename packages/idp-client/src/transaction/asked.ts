import { hashToken } from '../crypto/random.ts'
import type { ParameterChanges } from './authorization.ts'

/** By these a guard asks for more than any login brings. */
const NAMES = ['max_age', 'acr_values', 'organization', 'scope'] as const

/**
 * A short name for what a login was asked for beyond the configuration: equal for equal parameters, undefined when there
 * were none. The session keeps it, so that a guard knows its own login when it comes back.
 */
export async function askedFor(parameters: ParameterChanges): Promise<string | undefined> {
  const given = NAMES.map((name) => [name, parameters[name] ?? null] as const).filter(
    ([, value]) => value !== null,
  )
  return given.length === 0 ? undefined : hashToken(JSON.stringify(given.map(String)), 6)
}
