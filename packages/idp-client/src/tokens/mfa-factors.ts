import type { Authenticator, MfaChallengeOptions } from '../config/mfa.ts'
import type { MfaRequirements } from '../errors/mfa.ts'

/** Names of app codes in MFA requirements. */
const OTP: ReadonlySet<string> = new Set(['otp', 'totp'])
const RECOVERY = 'recovery-code'

/** Types of factors in MFA requirements, by the channel in the MFA API. */
const kindsByChannel: ReadonlyMap<string, string> = new Map([
  ['sms', 'phone'],
  ['voice', 'phone'],
  ['push', 'push-notification'],
  ['email', 'email'],
])

/** Returns whether a challenge type fits an accepted type. All types except app codes and recovery codes are out of band. */
export function acceptsChallenge(
  { challenge }: MfaRequirements,
  type: MfaChallengeOptions['challengeType'],
): boolean {
  if (!challenge) return true
  const accepted = challenge.map((kind) => kind.type)
  if (type === 'otp') return accepted.some((kind) => OTP.has(kind))
  return accepted.some((kind) => !OTP.has(kind) && kind !== RECOVERY)
}

/** Returns whether the factor has an accepted type, by any of its names. */
export function acceptsAuthenticator(
  { challenge }: MfaRequirements,
  { authenticatorType, oobChannel = '', type }: Authenticator,
): boolean {
  if (!challenge) return true
  const names = new Set([type, authenticatorType, oobChannel, kindsByChannel.get(oobChannel)])
  return challenge.some((kind) => names.has(kind.type) || (OTP.has(kind.type) && names.has('otp')))
}
