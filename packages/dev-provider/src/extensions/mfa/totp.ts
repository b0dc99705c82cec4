import { createGuardrails, generateSecret, generateSync, generateURI, verifySync } from 'otplib'

/** Seconds for which one code is shown. */
export const TOTP_STEP = 30

// Authenticator apps take secrets of 80 bits, which is what many providers still issue.
const guardrails = createGuardrails({ MIN_SECRET_BYTES: 10 })

/** A new secret: 160 bits in base32, as authenticator apps take it. */
export function createTotpSecret(): string {
  return generateSecret()
}

/** The secret without the blanks, dashes and padding with which it may be written. */
function normalize(secret: string): string {
  return secret.toUpperCase().replace(/[\s=-]/g, '')
}

/** Whether the text can be a secret: base32, 80 bits or more. */
export function isTotpSecret(text: string): boolean {
  try {
    totp(text, 0)
    return true
  } catch {
    return false
  }
}

/** The code of a point in time, in seconds since the epoch (RFC 6238 over RFC 4226, SHA-1). */
export function totp(secret: string, time: number): string {
  return generateSync({ secret: normalize(secret), epoch: time, guardrails })
}

/** Whether the code is the current one, or one step early or late. */
export function matchesTotp(secret: string, code: string, time: number): boolean {
  const isCode = /^\d{6}$/.test(code)
  const options = { secret: normalize(secret), token: code, epoch: time, guardrails }
  return isCode && verifySync({ ...options, epochTolerance: TOTP_STEP }).valid
}

/** The contents of the QR code for an authenticator app. */
export function otpauthUri(secret: string, account: string, parameters: Record<string, string> = {}): string {
  const uri = generateURI({ issuer: 'Development identity provider', label: account, secret })
  const more = Object.entries(parameters).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
  return uri + more.join('')
}
