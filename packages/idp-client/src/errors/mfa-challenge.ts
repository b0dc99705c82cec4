import { processWide } from '../lib/registry.ts'
import type { MfaRequirements } from './mfa.ts'
import type { OAuthError } from './provider.ts'

/** Further members of a response with the error `mfa_required`. */
export interface MfaChallenge {
  /** The provider's own `mfa_token`: a secret that never leaves the server as it is. */
  readonly token?: string
  readonly requirements?: MfaRequirements
}

// Beside the error and not on it: errors are logged and shown. For the whole process, since requests of two copies of
// the package may wait for the same refresh.
const challenges = (): WeakMap<object, MfaChallenge> => processWide('state:mfa-challenges/1', () => new WeakMap())

export function rememberMfaChallenge(error: OAuthError, challenge: MfaChallenge): void {
  challenges().set(error, challenge)
}

/** The challenge that came with an `OAuthError` whose `error` is `mfa_required`; undefined for every other value. */
export function getMfaChallenge(error: unknown): MfaChallenge | undefined {
  return typeof error === 'object' && error !== null ? challenges().get(error) : undefined
}
