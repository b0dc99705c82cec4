import { processWide } from '../lib/registry.ts'
import type { MfaRequirements } from './mfa.ts'
import type { OAuthError } from './provider.ts'

/** Further properties of a response with the error `mfa_required`. */
export interface MfaChallenge {
  /** The provider's own `mfa_token`: a secret that never leaves the server as it is. */
  readonly token?: string
  readonly requirements?: MfaRequirements
}

/** Properties of one error that only the library reads. */
interface ErrorState {
  /** Whether the failure is in the log already. */
  isReported?: true
  mfaChallenge?: MfaChallenge
}

// Beside the error and not on it: errors are logged and shown. For the whole process, since requests of two copies of
// the package may wait for the same refresh.
const states = (): WeakMap<object, ErrorState> => processWide('state:errors/1', () => new WeakMap())

function getState(error: object): ErrorState {
  const state = states().get(error) ?? {}
  states().set(error, state)
  return state
}

/** Returns true at the first call for this error, false at every later one: several requests may share an error. */
export function markReported(error: object): boolean {
  const state = getState(error)
  if (state.isReported) return false
  state.isReported = true
  return true
}

export function setMfaChallenge(error: OAuthError, challenge: MfaChallenge): void {
  getState(error).mfaChallenge = challenge
}

/** Returns the challenge of an `OAuthError` whose `error` is `mfa_required`; undefined for every other value. */
export function getMfaChallenge(error: unknown): MfaChallenge | undefined {
  return typeof error === 'object' && error !== null ? states().get(error)?.mfaChallenge : undefined
}
