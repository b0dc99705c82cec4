'use client'

import type { Authenticator, MfaOtpEnrollment, MfaVerifyOptions } from 'idp-client/browser'
import { mfa } from 'idp-client/browser'
import { useEffect, useState } from 'react'
import type { Demand, Offer } from '../../lib/second-factor'
import { demandOf, explainFactor, factorLabel, isPending, isRefused, offers } from '../../lib/second-factor'

/** What the visitor types in, as the library wants it. */
export type Proof =
  | { readonly otp: string }
  | { readonly oobCode: string; readonly bindingCode?: string }
  | { readonly recoveryCode: string }

interface Asked {
  /** Name of the factor. */
  readonly label: string
  /** To be kept by the visitor; shown once. */
  readonly recoveryCodes?: readonly string[] | undefined
}

export type Step =
  | { readonly kind: 'loading' }
  | { readonly kind: 'choose'; readonly factors: readonly Authenticator[] }
  | { readonly kind: 'enroll'; readonly offered: readonly Offer[] }
  | (Asked & {
      readonly kind: 'code'
      readonly proofOf: (code: string) => Proof
      /** An app that is being set up. */
      readonly app?: MfaOtpEnrollment
    })
  | (Asked & { readonly kind: 'approval'; readonly oobCode: string })
  | { readonly kind: 'keep'; readonly label: string; readonly recoveryCode: string }
  | { readonly kind: 'over'; readonly message: string }

export interface Callbacks {
  /** The factor was verified: its label. */
  readonly onVerified: (label: string) => void
  /** One more factor is demanded. */
  readonly onDemand: (demand: Demand) => void
}

export interface SecondFactorState {
  readonly step: Step
  /** What went wrong with the last try. */
  readonly problem: string
  readonly isBusy: boolean
  choose(factor: Authenticator): Promise<void>
  enroll(offer: Offer): Promise<void>
  prove(label: string, proof: Proof): Promise<void>
  /** Asks whether the visitor has approved; true as long as that is open. */
  poll(label: string, oobCode: string): Promise<boolean>
}

interface Sent extends Asked {
  readonly oobCode?: string
  readonly bindingMethod?: string
}

/** A code was sent, or a question that wants an answer on the device. */
function afterSending({ bindingMethod, oobCode = '', ...asked }: Sent): Step {
  if (bindingMethod !== 'prompt') return { kind: 'approval', oobCode, ...asked }
  return { kind: 'code', proofOf: (bindingCode) => ({ oobCode, bindingCode }), ...asked }
}

function firstStep({ requirements }: Demand): Step {
  const types = requirements?.enroll
  if (!types) return { kind: 'loading' }
  return { kind: 'enroll', offered: offers.filter((offer) => types.some(({ type }) => type === offer.type)) }
}

/** Those that can be used; what is kept for the day when the device is lost comes last. */
function inOrder(factors: readonly Authenticator[]): Authenticator[] {
  const isForLater = ({ authenticatorType }: Authenticator) => authenticatorType === 'recovery-code'
  const usable = factors.filter(({ active }) => active)
  return [...usable.filter((factor) => !isForLater(factor)), ...usable.filter(isForLater)]
}

async function stepFor(mfaToken: string, factor: Authenticator): Promise<Step> {
  const label = factorLabel(factor)
  if (factor.authenticatorType === 'otp') return { kind: 'code', label, proofOf: (otp) => ({ otp }) }
  if (factor.authenticatorType === 'recovery-code')
    return { kind: 'code', label, proofOf: (recoveryCode) => ({ recoveryCode }) }
  const sent = await mfa.challenge({ mfaToken, challengeType: 'oob', authenticatorId: factor.id })
  return afterSending({ label, ...sent })
}

async function stepForNew(mfaToken: string, { factorType, label }: Offer): Promise<Step> {
  const enrolled = await mfa.enroll({ mfaToken, factorType })
  const { recoveryCodes } = enrolled
  if (enrolled.authenticatorType === 'oob') return afterSending({ ...enrolled, label })
  return { kind: 'code', label, recoveryCodes, app: enrolled, proofOf: (otp) => ({ otp }) }
}

/** Leads through one factor, from what the provider demands to its verification. */
export function useSecondFactor(demand: Demand, { onDemand, onVerified }: Callbacks): SecondFactorState {
  const { mfaToken } = demand
  const [step, setStep] = useState<Step>(() => firstStep(demand))
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)

  function fail(error: unknown) {
    const further = demandOf(error)
    if (further) return onDemand(further)
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
    if (demand.requirements?.enroll) return
    mfa.getAuthenticators({ mfaToken }).then(
      (factors) => setStep({ kind: 'choose', factors: inOrder(factors) }),
      (error: unknown) => setStep({ kind: 'over', message: explainFactor(error).message }),
    )
  }, [demand, mfaToken])

  return {
    step,
    problem,
    isBusy,
    choose: (factor) => attempt(async () => setStep(await stepFor(mfaToken, factor))),
    enroll: (offer) => attempt(async () => setStep(await stepForNew(mfaToken, offer))),
    prove: (label, proof) => attempt(() => verify(label, proof)),
    async poll(label, oobCode) {
      try {
        await verify(label, { oobCode })
      } catch (error) {
        if (isPending(error)) return true
        if (isRefused(error)) setStep({ kind: 'over', message: 'It was refused on the device.' })
        else fail(error)
      }
      return false
    },
  }
}
