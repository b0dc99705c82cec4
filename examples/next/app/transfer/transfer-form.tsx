'use client'

import { useRouter } from 'next/navigation'
import type { SyntheticEvent } from 'react'
import { useRef, useState } from 'react'
import { useHydrated } from '../../components/use-hydrated'
import { payees } from '../../lib/bank'
import { Receipt } from './receipt'
import { SecondFactor } from './second-factor'
import type { Outcome, TransferInput } from './ways'
import { confirmAtProvider, confirmHere, confirmInPopup } from './ways'

const ways = [
  { value: 'here', label: 'On this page', hint: 'with a code or a push message' },
  { value: 'popup', label: 'In a popup', hint: 'the provider opens in a new window' },
  { value: 'provider', label: 'At the provider', hint: 'you are redirected there and back' },
] as const

interface TransferFormProps {
  /** The user's input before the redirect to the provider. */
  readonly initial: TransferInput & { readonly way: string }
  /** False with tokens that are bound to a key of the server: a popup returns a token to the browser. */
  readonly hasPopup: boolean
  /** Where the development provider shows codes; null with another provider. */
  readonly inboxUrl: string | null
}

type State = Outcome | { readonly kind: 'idle' } | { readonly kind: 'busy' }

export function TransferForm({ initial, hasPopup, inboxUrl }: TransferFormProps) {
  const [state, setState] = useState<State>({ kind: 'idle' })
  const [input, setInput] = useState<TransferInput>(initial)
  const router = useRouter()
  const button = useRef<HTMLButtonElement>(null)
  const isHydrated = useHydrated()
  const isBusy = !isHydrated || state.kind === 'busy' || state.kind === 'leaving'

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const next = { payee: String(form.get('payee')), amount: String(form.get('amount')) }
    setInput(next)
    await run(start(String(form.get('way')), next))
  }

  async function run(started: Promise<Outcome>) {
    setState({ kind: 'busy' })
    const outcome = await started.catch(unreachable)
    setState(outcome)
    // Balance and access token of the bank have changed.
    if (outcome.kind === 'receipt') router.refresh()
  }

  function cancel() {
    setState({ kind: 'problem', message: 'No money was transferred.' })
    button.current?.focus()
  }

  return (
    <>
      <form className="card" aria-label="Transfer" onSubmit={submit}>
        <Fields initial={initial} />
        <Ways chosen={initial.way} hasPopup={hasPopup} />
        <p className="actions">
          <button ref={button} className="button button-primary" type="submit" disabled={isBusy}>
            {isHydrated && isBusy ? 'One moment…' : 'Transfer'}
          </button>
          <span role={state.kind === 'problem' ? 'alert' : 'status'}>
            {toMessage(state, initial.way === 'provider')}
          </span>
        </p>
      </form>
      {state.kind === 'receipt' ? <Receipt key={state.receipt.id} {...state} /> : null}
      {state.kind === 'factor' ? (
        <SecondFactor
          key={state.challenge.mfaToken}
          challenge={state.challenge}
          inboxUrl={inboxUrl}
          onChallenge={(challenge) => setState({ kind: 'factor', challenge })}
          onVerified={(proof) => run(confirmHere(input, proof))}
          onCancel={cancel}
        />
      ) : null}
    </>
  )
}

function start(way: string, input: TransferInput): Promise<Outcome> {
  if (way === 'popup') return confirmInPopup(input)
  return way === 'provider' ? confirmAtProvider(input) : confirmHere(input)
}

const unreachable = (): Outcome => ({
  kind: 'problem',
  message: 'The server cannot be reached. Try again.',
})

function toMessage(state: State, isBack: boolean): string {
  if (state.kind === 'problem') return state.message
  return state.kind === 'idle' && isBack ? 'You have confirmed your identity. Press Transfer again.' : ''
}

function Fields({ initial }: { initial: TransferInput }) {
  return (
    <div className="fields">
      <label className="field">
        To
        <select name="payee" defaultValue={initial.payee || payees[0]}>
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
          defaultValue={initial.amount}
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
      <legend>How do you want to confirm?</legend>
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
