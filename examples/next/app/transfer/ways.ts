import { mfa } from 'idp-client/browser'
import { isIdpError } from 'idp-client/errors'
import type { Receipt } from '../../lib/bank'
import { bank } from '../../lib/bank'
import type { MfaChallenge } from '../../lib/second-factor'
import { transfer } from './actions'

export interface TransferInput {
  readonly payee: string
  readonly amount: string
}

/** Result of a transfer, or what has to happen first. */
export type Outcome =
  | {
      readonly kind: 'receipt'
      readonly receipt: Receipt
      /** How the user confirmed it. */
      readonly proof: string
    }
  | { readonly kind: 'factor'; readonly challenge: MfaChallenge }
  | { readonly kind: 'problem'; readonly message: string }
  /** The browser is being redirected to the provider. */
  | { readonly kind: 'leaving' }

/** Calls the server, which may require a second factor first. */
export async function confirmHere(
  input: TransferInput,
  proof = 'Your recent second factor',
): Promise<Outcome> {
  const result = await transfer(input.payee, input.amount)
  if (result.kind === 'done') return { kind: 'receipt', receipt: result.receipt, proof }
  if (result.kind === 'failed') return { kind: 'problem', message: result.message }
  return result.challenge.mfaToken === ''
    ? { kind: 'problem', message: 'Log out and log in again to transfer money.' }
    : result
}

/** Opens the provider in a popup. Must run in a click handler, otherwise browsers block the window. */
export async function confirmInPopup(input: TransferInput): Promise<Outcome> {
  try {
    await mfa.challengeWithPopup({ ...bank, returnTo: '/transfer' })
  } catch (error) {
    return { kind: 'problem', message: explainPopup(error) }
  }
  return confirmHere(input, 'Second factor at the provider, in a popup')
}

/** Calls a route that requires a recent login with a second factor, and goes to the provider if it was too weak. */
export async function confirmAtProvider(input: TransferInput): Promise<Outcome> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/api/transfers', { method: 'POST', headers, body: JSON.stringify(input) })
  const body = (await response.json()) as Receipt & {
    readonly description?: string
    readonly login?: Readonly<Record<string, string>>
  }
  if (response.ok) return { kind: 'receipt', receipt: body, proof: 'Second factor at the provider' }
  if (!body.login) return { kind: 'problem', message: body.description ?? 'No money was transferred.' }
  // The form is filled in again on return. Opening that page transfers nothing by itself.
  const returnTo = `/transfer?${new URLSearchParams({ ...input, way: 'provider' })}`
  window.location.assign(`/auth/login?${new URLSearchParams({ ...body.login, returnTo })}`)
  return { kind: 'leaving' }
}

const popupProblems: Readonly<Record<string, string>> = {
  POPUP_BLOCKED: 'Your browser blocked the window. Allow popups for this site, or confirm on this page.',
  POPUP_CANCELLED: 'You closed the window. No money was transferred.',
  POPUP_TIMEOUT: 'The window was open for too long. No money was transferred.',
  POPUP_IN_PROGRESS: 'The window is already open.',
  POPUP_USER_MISMATCH: 'You signed in as a different user there. No money was transferred.',
}

function explainPopup(error: unknown): string {
  if (!isIdpError(error)) throw error
  return popupProblems[error.code] ?? 'The provider did not confirm the transfer. No money was transferred.'
}
