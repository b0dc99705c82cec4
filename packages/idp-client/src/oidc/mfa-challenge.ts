import type { OAuthError } from '../errors/provider.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringMember } from './json.ts'

/** What an answer with the error `mfa_required` says beside it. */
export interface MfaChallenge {
  /** The provider's own `mfa_token`: a secret that never leaves the server as it is. */
  readonly token?: string
  /** `mfa_requirements`, as it came. */
  readonly requirements?: JsonObject
}

// Beside the error and not on it: errors are logged and shown.
const challenges = new WeakMap<OAuthError, MfaChallenge>()

export function rememberMfaChallenge(error: OAuthError, body: JsonObject): void {
  const token = stringMember(body, 'mfa_token')
  const { mfa_requirements: requirements } = body
  challenges.set(error, {
    ...(token === undefined ? {} : { token }),
    ...(isObject(requirements) ? { requirements } : {}),
  })
}

/** The challenge that came with an `OAuthError` whose `error` is `mfa_required`. */
export function mfaChallengeOf(error: OAuthError): MfaChallenge | undefined {
  return challenges.get(error)
}
