import { hashToken } from '../crypto/random.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { unitedScope } from '../session/model/scope.ts'

/** Parameters by which a guard can require more than every login provides. */
const NAMES = ['max_age', 'acr_values', 'organization', 'scope'] as const

/** The parameters of an authorization request, and the part of its scope that the application requested (`StoredSession`). */
export interface RequestedAuthentication {
  readonly parameters: ReadonlyMap<string, string>
  readonly ownScope?: string
}

/** Leaves out `offline_access`, because it depends on the provider whether that is sent. */
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

/** Returns whether all values are written alike, as in most logins: then no scope needs to be parsed. */
function isSameText(sent: RequestedAuthentication, configured: RequestedAuthentication): boolean {
  const { ownScope = '' } = configured
  if ((sent.ownScope ?? '') !== ownScope) return false
  return NAMES.every((name) => sent.parameters.get(name) === configured.parameters.get(name))
}

/**
 * Returns a fingerprint of the parameters of an authorization request: equal for equal parameters, undefined for those of
 * every login with this configuration. It is stored in the session, so that a guard recognizes the login that it required.
 */
export function toRequestFingerprint(
  sent: RequestedAuthentication,
  configured: RequestedAuthentication,
): MaybePromise<string | undefined> {
  if (isSameText(sent, configured)) return undefined
  const fingerprint = comparable(sent)
  return fingerprint === comparable(configured) ? undefined : hashToken(fingerprint, 6)
}
