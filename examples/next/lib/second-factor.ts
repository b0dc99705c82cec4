import type { Authenticator, MfaRequirements } from 'idp-client'
import { isIdpError } from 'idp-client/errors'

/** What the provider wants before it hands out a token. */
export interface Demand {
  /** Encrypted; bound to the session. */
  readonly mfaToken: string
  readonly requirements?: MfaRequirements | undefined
}

/** The demand that an error carries, on the server and in the browser alike; null for every other error. */
export function demandOf(error: unknown): Demand | null {
  if (!isIdpError(error, 'MFA_REQUIRED') || !('mfa_token' in error)) return null
  const { mfa_token, mfa_requirements } = error as typeof error & {
    readonly mfa_token: string
    readonly mfa_requirements?: MfaRequirements
  }
  return { mfaToken: mfa_token, requirements: mfa_requirements }
}

/** Factors that this site offers to set up, and what requirements call them. */
export const offers = [
  { factorType: 'otp', type: 'otp', label: 'Authenticator app' },
  { factorType: 'push', type: 'push-notification', label: 'Push message' },
  { factorType: 'email', type: 'email', label: 'E-mail' },
] as const

export type Offer = (typeof offers)[number]

const channels: Readonly<Record<string, string>> = {
  sms: 'Text message',
  voice: 'Call',
  email: 'E-mail',
  push: 'Push message',
}

/** `Text message to XXXXXX0100` */
export function factorLabel({ authenticatorType, name, oobChannel = '' }: Authenticator): string {
  if (authenticatorType === 'otp') return 'Authenticator app'
  if (authenticatorType === 'recovery-code') return 'Recovery code'
  return [channels[oobChannel] ?? 'Another device', name].filter(Boolean).join(' to ')
}

export interface Problem {
  readonly message: string
  /** The demand is worth nothing any more: the visitor begins again. */
  readonly isOver: boolean
}

/** Whether the visitor has yet to approve on the device. */
export function isPending(error: unknown): boolean {
  return ['authorization_pending', 'slow_down'].includes(wordOf(error))
}

/** The code was wrong, or the visitor said no on the device. */
export function isRefused(error: unknown): boolean {
  return wordOf(error) === 'invalid_grant'
}

const over = {
  MFA_TOKEN_EXPIRED: 'This took too long. Nothing was transferred; begin again.',
  MFA_TOKEN_INVALID: 'You have signed in again since this began. Nothing was transferred; begin again.',
  MISSING_SESSION: 'You are signed out. Log in and begin again.',
} as const

/** What to tell a visitor whose factor was not verified. */
export function explainFactor(error: unknown): Problem {
  for (const [code, message] of Object.entries(over)) {
    if (isIdpError(error) && error.code === code) return { message, isOver: true }
  }
  const word = wordOf(error)
  if (word === 'expired_token') return { message: over.MFA_TOKEN_EXPIRED, isOver: true }
  if (word === 'too_many_attempts') return { message: 'Too many wrong codes. Begin again.', isOver: true }
  if (isRefused(error)) return { message: 'That was not right. Try again.', isOver: false }
  if (isIdpError(error, 'INVALID_REQUEST')) return { message: 'Enter the code.', isOver: false }
  if (isIdpError(error)) return { message: 'That did not work right now. Try again.', isOver: false }
  throw error
}

/** The provider's own word for what was wrong, which our routes pass on. */
function wordOf(error: unknown): string {
  return isIdpError(error) && 'error' in error ? String(error.error) : ''
}
