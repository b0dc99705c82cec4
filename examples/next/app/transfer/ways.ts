import { mfa } from 'idp-client/browser'
import { isIdpError } from 'idp-client/errors'
import type { Receipt } from '../../lib/bank'
import { bank } from '../../lib/bank'
import type { Demand } from '../../lib/second-factor'
import { transfer } from './actions'

export interface Wanted {
  readonly payee: string
  readonly amount: string
}

/** What a transfer came to, or what it waits for. */
export type Outcome =
  | {
      readonly kind: 'receipt'
      readonly receipt: Receipt
      /** How the visitor proved it. */
      readonly proof: string
    }
  | { readonly kind: 'factor'; readonly demand: Demand }
  | { readonly kind: 'problem'; readonly message: string }
  /** The browser is on its way to the provider. */
  | { readonly kind: 'leaving' }

/** Asks the server, which may demand a factor first. */
export async function confirmHere(wanted: Wanted, proof = 'An earlier proof, still good'): Promise<Outcome> {
  const result = await transfer(wanted.payee, wanted.amount)
  if (result.kind === 'done') return { kind: 'receipt', receipt: result.receipt, proof }
  if (result.kind === 'failed') return { kind: 'problem', message: result.message }
  return result.demand.mfaToken === ''
    ? { kind: 'problem', message: 'Log out and log in again to transfer money.' }
    : result
}

/** Lets the provider ask in a window of its own. Has to run in the handler of a click, or browsers block the window. */
export async function confirmInPopup(wanted: Wanted): Promise<Outcome> {
  try {
    await mfa.challengeWithPopup({ ...bank, returnTo: '/transfer' })
  } catch (error) {
    return { kind: 'problem', message: explainPopup(error) }
  }
  return confirmHere(wanted, 'The provider, in a popup')
}

/** The route that is guarded by the age and strength of the login; where that does not do, over to the provider. */
export async function confirmAtProvider(wanted: Wanted): Promise<Outcome> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/api/transfers', { method: 'POST', headers, body: JSON.stringify(wanted) })
  const body = (await response.json()) as Receipt & {
    readonly description?: string
    readonly login?: Readonly<Record<string, string>>
  }
  if (response.ok) return { kind: 'receipt', receipt: body, proof: 'The login at the provider' }
  if (!body.login) return { kind: 'problem', message: body.description ?? 'Nothing was transferred.' }
  // The way back brings along what was filled in; a page that is opened transfers nothing by itself.
  const returnTo = `/transfer?${new URLSearchParams({ ...wanted, way: 'provider' })}`
  window.location.assign(`/auth/login?${new URLSearchParams({ ...body.login, returnTo })}`)
  return { kind: 'leaving' }
}

const popupProblems: Readonly<Record<string, string>> = {
  POPUP_BLOCKED: 'Your browser has blocked the window. Allow popups for this site, or confirm on this page.',
  POPUP_CANCELLED: 'You closed the window. Nothing was transferred.',
  POPUP_TIMEOUT: 'The window waited too long. Nothing was transferred.',
  POPUP_IN_PROGRESS: 'The window is open already.',
  POPUP_OTHER_USER: 'You signed in as somebody else there. Nothing was transferred.',
}

function explainPopup(error: unknown): string {
  if (!isIdpError(error)) throw error
  return popupProblems[error.code] ?? 'The provider did not confirm. Nothing was transferred.'
}
