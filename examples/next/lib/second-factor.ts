import type { Authenticator, MfaRequirements } from 'idp-client'
import { isIdpError } from 'idp-client/errors'

/** The factors that the provider requires before it issues a token. */
export interface MfaChallenge {
  /** Encrypted, and bound to the session. */
  readonly mfaToken: string
  readonly requirements?: MfaRequirements | undefined
}

/** Returns the challenge that an error carries, on the server and in the browser; null for any other error. */
export function toMfaChallenge(error: unknown): MfaChallenge | null {
  if (!isIdpError(error, 'MFA_REQUIRED') || !('mfa_token' in error)) return null
  const { mfa_token, mfa_requirements } = error as typeof error & {
    readonly mfa_token: string
    readonly mfa_requirements?: MfaRequirements
  }
  return { mfaToken: mfa_token, requirements: mfa_requirements }
}

/** Factors that this site can enroll, with their names in `MfaRequirements`. */
export const offers = [
  { factorType: 'otp', type: 'otp', label: 'Authenticator app' },
  { factorType: 'push', type: 'push-notification', label: 'Push message' },
  { factorType: 'email', type: 'email', label: 'E-mail' },
] as const

export type Offer = (typeof offers)[number]

const channels: Readonly<Record<string, string>> = {
  sms: 'Text message',
  voice: 'Phone call',
  email: 'E-mail',
  push: 'Push message',
}

/** Returns a label such as `Text message to XXXXXX0100`. */
export function factorLabel({ authenticatorType, name, oobChannel = '' }: Authenticator): string {
  if (authenticatorType === 'otp') return 'Authenticator app'
  if (authenticatorType === 'recovery-code') return 'Recovery code'
  return [channels[oobChannel] ?? 'Another device', name].filter(Boolean).join(' to ')
}

export interface Problem {
  readonly message: string
  /** The challenge is no longer valid: the user has to start again. */
  readonly isOver: boolean
}

/** Whether the user has not yet responded on the device. */
export function isPending(error: unknown): boolean {
  return ['authorization_pending', 'slow_down'].includes(oauthError(error))
}

/** Whether the code was wrong, or the user denied the request on the device. */
export function isRefused(error: unknown): boolean {
  return oauthError(error) === 'invalid_grant'
}

const over = {
  MFA_TOKEN_EXPIRED: 'You took too long. No money was transferred; start again.',
  MFA_TOKEN_INVALID: 'You have signed in again in the meantime. No money was transferred; start again.',
  MISSING_SESSION: 'You are signed out. Log in and start again.',
} as const

/** Returns a message for the user whose factor was not verified. */
export function explainFactor(error: unknown): Problem {
  for (const [code, message] of Object.entries(over)) {
    if (isIdpError(error) && error.code === code) return { message, isOver: true }
  }
  const code = oauthError(error)
  if (code === 'expired_token') return { message: over.MFA_TOKEN_EXPIRED, isOver: true }
  if (code === 'too_many_attempts') return { message: 'Too many wrong codes. Start again.', isOver: true }
  if (isRefused(error)) return { message: 'This code is wrong. Try again.', isOver: false }
  if (isIdpError(error, 'INVALID_REQUEST')) return { message: 'Enter the code.', isOver: false }
  if (isIdpError(error)) return { message: 'The code could not be checked. Try again.', isOver: false }
  throw error
}

/** Returns the provider's error code, which our routes pass on. */
function oauthError(error: unknown): string {
  return isIdpError(error) && 'error' in error ? String(error.error) : ''
}
