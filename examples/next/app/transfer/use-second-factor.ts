'use client'

import type { Authenticator, MfaOtpEnrollment, MfaVerifyOptions } from 'idp-client/browser'
import { mfa } from 'idp-client/browser'
import { useEffect, useState } from 'react'
import type { MfaChallenge, Offer } from '../../lib/second-factor'
import {
  explainFactor,
  factorLabel,
  isPending,
  isRefused,
  offers,
  toMfaChallenge,
} from '../../lib/second-factor'

/** The user's input, as `mfa.verify` takes it. */
export type Proof =
  | { readonly otp: string }
  | { readonly oobCode: string; readonly bindingCode?: string }
  | { readonly recoveryCode: string }

interface FactorStep {
  /** Name of the factor. */
  readonly label: string
  /** Shown once, for the user to write down. */
  readonly recoveryCodes?: readonly string[] | undefined
}

export type Step =
  | { readonly kind: 'loading' }
  | { readonly kind: 'choose'; readonly factors: readonly Authenticator[] }
  | { readonly kind: 'enroll'; readonly offered: readonly Offer[] }
  | (FactorStep & {
      readonly kind: 'code'
      readonly toProof: (code: string) => Proof
      /** An authenticator app that is being enrolled. */
      readonly app?: MfaOtpEnrollment
    })
  | (FactorStep & { readonly kind: 'approval'; readonly oobCode: string })
  | { readonly kind: 'keep'; readonly label: string; readonly recoveryCode: string }
  | { readonly kind: 'over'; readonly message: string }

export interface Callbacks {
  /** The factor was verified; receives its label. */
  readonly onVerified: (label: string) => void
  /** The provider requires one more factor. */
  readonly onChallenge: (challenge: MfaChallenge) => void
}

export interface SecondFactorState {
  readonly step: Step
  /** Message about the last attempt. */
  readonly problem: string
  readonly isBusy: boolean
  choose(factor: Authenticator): Promise<void>
  enroll(offer: Offer): Promise<void>
  verify(label: string, proof: Proof): Promise<void>
  /** Checks whether the user has approved; true until the user has responded. */
  poll(label: string, oobCode: string): Promise<boolean>
}

interface SentMessage extends FactorStep {
  readonly oobCode?: string
  readonly bindingMethod?: string
}

/** Returns the step after a message with a code, or with a request to approve, was sent. */
function afterSending({ bindingMethod, oobCode = '', ...step }: SentMessage): Step {
  if (bindingMethod !== 'prompt') return { kind: 'approval', oobCode, ...step }
  return { kind: 'code', toProof: (bindingCode) => ({ oobCode, bindingCode }), ...step }
}

function firstStep({ requirements }: MfaChallenge): Step {
  const types = requirements?.enroll
  if (!types) return { kind: 'loading' }
  return { kind: 'enroll', offered: offers.filter((offer) => types.some(({ type }) => type === offer.type)) }
}

/** Returns the active factors, recovery codes last. */
function sortFactors(factors: readonly Authenticator[]): Authenticator[] {
  const isRecovery = ({ authenticatorType }: Authenticator) => authenticatorType === 'recovery-code'
  const active = factors.filter((factor) => factor.active)
  return [...active.filter((factor) => !isRecovery(factor)), ...active.filter(isRecovery)]
}

async function startFactor(mfaToken: string, factor: Authenticator): Promise<Step> {
  const label = factorLabel(factor)
  if (factor.authenticatorType === 'otp') return { kind: 'code', label, toProof: (otp) => ({ otp }) }
  if (factor.authenticatorType === 'recovery-code')
    return { kind: 'code', label, toProof: (recoveryCode) => ({ recoveryCode }) }
  const sent = await mfa.challenge({ mfaToken, challengeType: 'oob', authenticatorId: factor.id })
  return afterSending({ label, ...sent })
}

async function startEnrollment(mfaToken: string, { factorType, label }: Offer): Promise<Step> {
  const enrolled = await mfa.enroll({ mfaToken, factorType })
  const { recoveryCodes } = enrolled
  if (enrolled.authenticatorType === 'oob') return afterSending({ ...enrolled, label })
  return { kind: 'code', label, recoveryCodes, app: enrolled, toProof: (otp) => ({ otp }) }
}

/** Guides through one factor, from the challenge of the provider to its verification. */
export function useSecondFactor(
  challenge: MfaChallenge,
  { onChallenge, onVerified }: Callbacks,
): SecondFactorState {
  const { mfaToken } = challenge
  const [step, setStep] = useState<Step>(() => firstStep(challenge))
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)

  function fail(error: unknown) {
    const next = toMfaChallenge(error)
    if (next) return onChallenge(next)
    const { isOver, message } = explainFactor(error)
    if (isOver) setStep({ kind: 'over', message })
    else setProblem(message)
  }

  async function attempt(work: () => Promise<void>) {
    setBusy(true)
    setProblem('')
    await work().catch(fail)
    setBusy(false)
  }

  async function verify(label: string, proof: Proof) {
    const { recovery_code: recoveryCode } = await mfa.verify({ mfaToken, ...proof } as MfaVerifyOptions)
    if (recoveryCode === undefined) onVerified(label)
    else setStep({ kind: 'keep', label, recoveryCode })
  }

  useEffect(() => {
    if (challenge.requirements?.enroll) return
    mfa.getAuthenticators({ mfaToken }).then(
      (factors) => setStep({ kind: 'choose', factors: sortFactors(factors) }),
      (error: unknown) => setStep({ kind: 'over', message: explainFactor(error).message }),
    )
  }, [challenge, mfaToken])

  return {
    step,
    problem,
    isBusy,
    choose: (factor) => attempt(async () => setStep(await startFactor(mfaToken, factor))),
    enroll: (offer) => attempt(async () => setStep(await startEnrollment(mfaToken, offer))),
    verify: (label, proof) => attempt(() => verify(label, proof)),
    async poll(label, oobCode) {
      try {
        await verify(label, { oobCode })
      } catch (error) {
        if (isPending(error)) return true
        if (isRefused(error)) setStep({ kind: 'over', message: 'You denied the transfer on your device.' })
        else fail(error)
      }
      return false
    },
  }
}
