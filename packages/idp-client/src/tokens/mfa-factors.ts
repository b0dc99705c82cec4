import type { Authenticator, MfaChallengeOptions } from '../config/mfa.ts'
import type { MfaRequirements } from '../errors/mfa.ts'

/** Requirements name kinds of factors by what users know, the MFA API by how they work. */
const OTP: ReadonlySet<string> = new Set(['otp', 'totp'])
const RECOVERY = 'recovery-code'

const kindsByChannel: ReadonlyMap<string, string> = new Map([
  ['sms', 'phone'],
  ['voice', 'phone'],
  ['push', 'push-notification'],
  ['email', 'email'],
])

/** Whether an accepted kind can be challenged this way. All kinds but app codes and recovery codes are out of band. */
export function acceptsChallenge(
  { challenge }: MfaRequirements,
  type: MfaChallengeOptions['challengeType'],
): boolean {
  if (!challenge) return true
  const accepted = challenge.map((kind) => kind.type)
  if (type === 'otp') return accepted.some((kind) => OTP.has(kind))
  return accepted.some((kind) => !OTP.has(kind) && kind !== RECOVERY)
}

/** Whether the factor is of an accepted kind, under any of its names. */
export function acceptsAuthenticator(
  { challenge }: MfaRequirements,
  { authenticatorType, oobChannel = '', type }: Authenticator,
): boolean {
  if (!challenge) return true
  const names = new Set([type, authenticatorType, oobChannel, kindsByChannel.get(oobChannel)])
  return challenge.some((kind) => names.has(kind.type) || (OTP.has(kind.type) && names.has('otp')))
}
