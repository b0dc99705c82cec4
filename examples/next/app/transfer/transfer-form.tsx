'use client'

import { useRouter } from 'next/navigation'
import type { SyntheticEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { payees } from '../../lib/bank'
import { Receipt } from './receipt'
import { SecondFactor } from './second-factor'
import type { Outcome, Wanted } from './ways'
import { confirmAtProvider, confirmHere, confirmInPopup } from './ways'

const ways = [
  { value: 'here', label: 'On this page', hint: 'with a code, or a message to your phone' },
  { value: 'popup', label: 'In a popup', hint: 'the provider asks in a window of its own' },
  { value: 'provider', label: 'At the provider', hint: 'you go there and come back' },
] as const

interface TransferFormProps {
  /** What was filled in before the visitor went to the provider. */
  readonly filledIn: Wanted & { readonly way: string }
  /** Tokens that are bound to a key of the server are not for the browser, which a popup brings one to. */
  readonly hasPopup: boolean
}

type State = Outcome | { readonly kind: 'idle' } | { readonly kind: 'busy' }

export function TransferForm({ filledIn, hasPopup }: TransferFormProps) {
  const [state, setState] = useState<State>({ kind: 'idle' })
  const [wanted, setWanted] = useState<Wanted>(filledIn)
  const router = useRouter()
  const button = useRef<HTMLButtonElement>(null)
  // Sent before the page is awake, the form would only fill itself in again.
  const [isAwake, setAwake] = useState(false)
  useEffect(() => setAwake(true), [])
  const isBusy = !isAwake || state.kind === 'busy' || state.kind === 'leaving'

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const next = { payee: String(form.get('payee')), amount: String(form.get('amount')) }
    setWanted(next)
    await settle(start(String(form.get('way')), next))
  }

  async function settle(started: Promise<Outcome>) {
    setState({ kind: 'busy' })
    const outcome = await started.catch(unreachable)
    setState(outcome)
    // The server knows more of the session now than this page shows.
    if (outcome.kind === 'receipt') router.refresh()
  }

  function cancel() {
    setState({ kind: 'problem', message: 'Nothing was transferred.' })
    button.current?.focus()
  }

  return (
    <>
      <form className="card" aria-label="Transfer" onSubmit={submit}>
        <Fields filledIn={filledIn} />
        <Ways chosen={filledIn.way} hasPopup={hasPopup} />
        <p className="actions">
          <button ref={button} className="button button-primary" type="submit" disabled={isBusy}>
            {isAwake && isBusy ? 'One moment…' : 'Transfer'}
          </button>
          <span role={state.kind === 'problem' ? 'alert' : 'status'}>
            {messageOf(state, filledIn.way === 'provider')}
          </span>
        </p>
      </form>
      {state.kind === 'receipt' ? <Receipt key={state.receipt.id} {...state} /> : null}
      {state.kind === 'factor' ? (
        <SecondFactor
          key={state.demand.mfaToken}
          demand={state.demand}
          onDemand={(demand) => setState({ kind: 'factor', demand })}
          onVerified={(proof) => settle(confirmHere(wanted, proof))}
          onCancel={cancel}
        />
      ) : null}
    </>
  )
}

function start(way: string, wanted: Wanted): Promise<Outcome> {
  if (way === 'popup') return confirmInPopup(wanted)
  return way === 'provider' ? confirmAtProvider(wanted) : confirmHere(wanted)
}

const unreachable = (): Outcome => ({
  kind: 'problem',
  message: 'The server cannot be reached. Try again.',
})

function messageOf(state: State, isBack: boolean): string {
  if (state.kind === 'problem') return state.message
  return state.kind === 'idle' && isBack ? 'You are back. Press Transfer once more.' : ''
}

function Fields({ filledIn }: { filledIn: Wanted }) {
  return (
    <div className="fields">
      <label className="field">
        To
        <select name="payee" defaultValue={filledIn.payee || payees[0]}>
          {payees.map((payee) => (
            <option key={payee}>{payee}</option>
          ))}
        </select>
      </label>
      <label className="field">
        Amount in euros
        <input
          name="amount"
          inputMode="decimal"
          autoComplete="off"
          placeholder="25.00"
          required
          defaultValue={filledIn.amount}
        />
      </label>
    </div>
  )
}

function Ways({ chosen, hasPopup }: { chosen: string; hasPopup: boolean }) {
  const offered = ways.filter(({ value }) => hasPopup || value !== 'popup')
  const preselected = offered.find(({ value }) => value === chosen) ?? offered[0]
  return (
    <fieldset>
      <legend>How you confirm it</legend>
      <div className="choices">
        {offered.map((way) => (
          <label className="choice" key={way.value}>
            <input type="radio" name="way" value={way.value} defaultChecked={way === preselected} />
            <span>
              {way.label}
              <small>{way.hint}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
