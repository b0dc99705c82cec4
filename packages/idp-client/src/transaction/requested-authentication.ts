import { hashToken } from '../crypto/random.ts'
import { unitedScope } from '../session/model/scope.ts'

/** By these a guard asks for more than any login brings. */
const NAMES = ['max_age', 'acr_values', 'organization', 'scope'] as const

/** The parameters of an authorization request, and the part of its scope that the application requested (`StoredSession`). */
export interface RequestedAuthentication {
  readonly parameters: ReadonlyMap<string, string>
  readonly ownScope?: string
}

/** `offline_access` is left out, since whether it is sent depends on the provider. */
function comparableScope(scope: string): string {
  return unitedScope(scope)
    .split(' ')
    .filter((part) => part !== 'offline_access')
    .sort()
    .join(' ')
}

function comparable({ ownScope = '', parameters }: RequestedAuthentication): string {
  const values = NAMES.map((name) => {
    const value = parameters.get(name)
    return name === 'scope' && value !== undefined ? comparableScope(value) : (value ?? null)
  })
  return JSON.stringify([...values, comparableScope(ownScope)])
}

/**
 * Returns a fingerprint of what the authorization request of a login was sent with: equal for equal parameters, undefined
 * for what every login of this configuration sends. The session keeps it, so that a guard knows its own login when it comes
 * back.
 */
export async function fingerprintOfRequest(
  sent: RequestedAuthentication,
  configured: RequestedAuthentication,
): Promise<string | undefined> {
  const fingerprint = comparable(sent)
  return fingerprint === comparable(configured) ? undefined : hashToken(fingerprint, 6)
}
