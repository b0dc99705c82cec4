import type { FactorDirectory, FactorKind, OobChannel } from './factors.ts'
import { createFactorDirectory } from './factors.ts'

/** Types of factors in a response with `mfa_required`, under the names of hosted providers. */
export interface MfaRequirements {
  readonly challenge?: readonly { readonly type: string }[]
  readonly enroll?: readonly { readonly type: string }[]
}

/** The request that an `mfa_token` stands for. */
export interface MfaContext {
  readonly token: string
  readonly clientId: string
  readonly sub: string
  readonly grantId: string
  readonly audience: string
  /** As the refused request had it. */
  readonly scope: string | undefined
  /** The refresh token that was presented; it is not used up. */
  readonly refreshToken: string | undefined
  /** Factors that still have to be verified; empty: any one. */
  readonly missing: readonly FactorKind[]
  /** Factors that were verified on the way here. */
  readonly passed: readonly FactorKind[]
  readonly requirements: MfaRequirements
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Ids of factors that were enrolled with it, which its verification makes active. */
  readonly enrolled: Set<string>
  wrongCodes: number
}

/** A message that was sent to a user outside of the application. */
export interface Message {
  /** The `oob_code`. */
  readonly id: string
  readonly sub: string
  readonly factorId: string
  readonly channel: OobChannel
  readonly mfaToken: string
  /** The code in the message, which the user types in; absent if the user approves instead. */
  readonly bindingCode?: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  decision: 'pending' | 'approved' | 'denied'
  /** When the application asked last, in milliseconds since the epoch. */
  polledAt: number
}

/** A login whose second step is under way. */
export interface PendingLogin {
  readonly sub: string
  /** Secret of the authenticator app that is being enrolled. */
  readonly secret?: string
  wrongCodes: number
}

/** Everything about further factors at one provider. */
export interface MfaState {
  readonly factors: FactorDirectory
  /** By `mfa_token`. */
  readonly contexts: Map<string, MfaContext>
  /** By `oob_code`. */
  readonly messages: Map<string, Message>
  /** When which factor was verified, in seconds since the epoch; by grant id. */
  readonly verified: Map<string, Map<FactorKind, number>>
  /** By id of the interaction. */
  readonly logins: Map<string, PendingLogin>
}

/** Wrong codes after which an `mfa_token`, or a login, is of no use any more. */
export const MAX_WRONG_CODES = 10

/** Claims about a further factor; ID tokens have them once one was verified, requested or not. */
export const STEP_UP_CLAIMS = { amr: null, auth_time: { essential: true } } as const

export function createMfaState(now: () => number): MfaState {
  return {
    factors: createFactorDirectory(now),
    contexts: new Map(),
    messages: new Map(),
    verified: new Map(),
    logins: new Map(),
  }
}

/** Notes that a factor was verified for a grant. */
export function markVerified(mfa: MfaState, grantId: string, kind: FactorKind, time: number): void {
  const kinds = mfa.verified.get(grantId) ?? new Map<FactorKind, number>()
  mfa.verified.set(grantId, kinds.set(kind, time))
}
