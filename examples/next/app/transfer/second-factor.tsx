'use client'

import { useEffect, useRef } from 'react'
import type { MfaChallenge } from '../../lib/second-factor'
import { factorLabel } from '../../lib/second-factor'
import { Approval, CodeForm, InboxHint, NewApp, RecoveryCodes } from './factor-steps'
import type { Callbacks, SecondFactorState } from './use-second-factor'
import { useSecondFactor } from './use-second-factor'

interface SecondFactorProps extends Callbacks {
  readonly challenge: MfaChallenge
  /** Where the development provider shows codes; null with another provider. */
  readonly inboxUrl: string | null
  readonly onCancel: () => void
}

/** The dialog in which a user verifies a second factor, or enrolls the first one. */
export function SecondFactor({ challenge, inboxUrl, onCancel, ...callbacks }: SecondFactorProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const factor = useSecondFactor(challenge, callbacks)
  // A modal dialog keeps the focus inside, and Escape closes it.
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} className="card dialog" aria-labelledby="factor-title" onClose={onCancel}>
      <h2 id="factor-title">{titles[factor.step.kind]}</h2>
      <div className="dialog-body">
        <StepView factor={factor} inboxUrl={inboxUrl} onVerified={callbacks.onVerified} />
      </div>
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
  keep: 'Your new recovery code',
  over: 'Transfer not confirmed',
} as const

interface StepViewProps extends Pick<Callbacks, 'onVerified'>, Pick<SecondFactorProps, 'inboxUrl'> {
  readonly factor: SecondFactorState
}

function StepView({ factor, inboxUrl, onVerified }: StepViewProps) {
  const { step, isBusy } = factor
  switch (step.kind) {
    case 'loading':
      return <p role="status">Loading…</p>
    case 'choose':
      return (
        <Choices
          lead="Choose a second factor."
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
          lead="You have no second factor yet. Set one up now; the bank will ask for it from now on."
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
          <InboxHint url={inboxUrl} />
          <CodeForm isBusy={isBusy} onCode={(code) => factor.verify(step.label, step.toProof(code))} />
        </>
      )
    case 'approval':
      return (
        <>
          <RecoveryCodes codes={step.recoveryCodes} />
          <InboxHint url={inboxUrl} />
          <Approval poll={() => factor.poll(step.label, step.oobCode)} hasFailed={factor.problem !== ''} />
        </>
      )
    case 'keep':
      return (
        <>
          <RecoveryCodes codes={[step.recoveryCode]} />
          <button className="button button-primary" type="button" onClick={() => onVerified(step.label)}>
            I have written it down
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
