'use client'

import { useEffect, useRef } from 'react'
import type { Demand } from '../../lib/second-factor'
import { factorLabel } from '../../lib/second-factor'
import { Approval, CodeForm, NewApp, RecoveryCodes } from './factor-steps'
import type { Callbacks, SecondFactorState } from './use-second-factor'
import { useSecondFactor } from './use-second-factor'

interface SecondFactorProps extends Callbacks {
  readonly demand: Demand
  readonly onCancel: () => void
}

/** The dialogue in which a visitor proves a further factor, or sets up the first one. */
export function SecondFactor({ demand, onCancel, ...callbacks }: SecondFactorProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const factor = useSecondFactor(demand, callbacks)
  // Modal: the browser keeps the focus inside, and Escape closes it.
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} className="card dialog" aria-labelledby="factor-title" onClose={onCancel}>
      <h2 id="factor-title">{titles[factor.step.kind]}</h2>
      <StepView factor={factor} onVerified={callbacks.onVerified} />
      <p role="alert">{factor.problem}</p>
      <form method="dialog">
        <button className="button" type="submit">
          {factor.step.kind === 'over' ? 'Close' : 'Cancel'}
        </button>
      </form>
    </dialog>
  )
}

const titles = {
  loading: 'Confirm that it is you',
  choose: 'Confirm that it is you',
  enroll: 'Set up a second factor',
  code: 'Enter the code',
  approval: 'Approve on your device',
  keep: 'Keep your new recovery code',
  over: 'Not confirmed',
} as const

interface StepViewProps extends Pick<Callbacks, 'onVerified'> {
  readonly factor: SecondFactorState
}

function StepView({ factor, onVerified }: StepViewProps) {
  const { step, isBusy } = factor
  switch (step.kind) {
    case 'loading':
      return <p role="status">Loading…</p>
    case 'choose':
      return (
        <Choices
          lead="Choose how."
          isBusy={isBusy}
          choices={step.factors.map((one) => ({
            key: one.id,
            label: factorLabel(one),
            choose: () => factor.choose(one),
          }))}
        />
      )
    case 'enroll':
      return (
        <Choices
          lead="You have none yet. Set up one now; from then on the bank asks for it."
          isBusy={isBusy}
          choices={step.offered.map((one) => ({
            key: one.type,
            label: one.label,
            choose: () => factor.enroll(one),
          }))}
        />
      )
    case 'code':
      return (
        <>
          {step.app ? <NewApp app={step.app} /> : <p>{step.label}</p>}
          <RecoveryCodes codes={step.recoveryCodes} />
          <CodeForm isBusy={isBusy} onCode={(code) => factor.prove(step.label, step.proofOf(code))} />
        </>
      )
    case 'approval':
      return (
        <>
          <RecoveryCodes codes={step.recoveryCodes} />
          <Approval poll={() => factor.poll(step.label, step.oobCode)} hasFailed={factor.problem !== ''} />
        </>
      )
    case 'keep':
      return (
        <>
          <RecoveryCodes codes={[step.recoveryCode]} />
          <button className="button button-primary" type="button" onClick={() => onVerified(step.label)}>
            I have kept it
          </button>
        </>
      )
    case 'over':
      return <p role="alert">{step.message}</p>
  }
}

interface ChoicesProps {
  readonly lead: string
  readonly isBusy: boolean
  readonly choices: readonly { readonly key: string; readonly label: string; readonly choose: () => void }[]
}

function Choices({ lead, isBusy, choices }: ChoicesProps) {
  return (
    <>
      <p>{lead}</p>
      <ul className="options">
        {choices.map(({ key, label, choose }) => (
          <li key={key}>
            <button className="button" type="button" disabled={isBusy} onClick={choose}>
              {label}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
