import { escapeHtml, page } from './html.ts'

export interface ConnectPage {
  /** Where the forms are posted. */
  readonly action: string
  readonly app: string
  readonly connection: string
  readonly scopes: readonly string[]
  /** The person whose account it will be. */
  readonly person: string
  /** Suggested name of the account. */
  readonly hint: string
  readonly problem?: string
}

/** The page on which a person connects an account of another provider. Works without JavaScript. */
export function connectAccountPage(view: ConnectPage): string {
  const action = escapeHtml(view.action)
  const scopes = view.scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' ')
  const problem = view.problem === undefined ? '' : `<p role="alert"><b>${escapeHtml(view.problem)}</b></p>`
  return page(
    'Connect an account',
    `<h1>Connect an account</h1>
<p><b>${escapeHtml(view.app)}</b> wants to use an account at <b>${escapeHtml(view.connection)}</b> for
<b>${escapeHtml(view.person)}</b>, with ${scopes}.</p>
${problem}
<form method="post" action="${action}">
<label for="account">Name of the account at ${escapeHtml(view.connection)}</label>
<input id="account" name="account" value="${escapeHtml(view.hint)}" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="100">
<button class="primary">Connect</button>
</form>
<form method="post" action="${action}"><button class="quiet" name="cancel" value="yes">Cancel</button></form>
<p class="note">Development only: no other provider is asked, every account is made up.</p>`,
  )
}
