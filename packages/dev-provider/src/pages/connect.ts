import { escapeHtml, page, problemPart } from './html.ts'

export interface ConnectPage {
  /** Where the forms are posted. */
  readonly action: string
  readonly app: string
  readonly connection: string
  readonly scopes: readonly string[]
  /** The user who connects the account. */
  readonly user: string
  /** Suggested name of the account. */
  readonly hint: string
  readonly problem?: string
}

/** Returns the page on which a user connects an account of another provider. Works without JavaScript. */
export function connectAccountPage(view: ConnectPage): string {
  const action = escapeHtml(view.action)
  const scopes = view.scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' ')
  return page(
    'Connect an account',
    `<h1>Connect an account</h1>
<p><b>${escapeHtml(view.app)}</b> asks <b>${escapeHtml(view.user)}</b> to connect an account at
<b>${escapeHtml(view.connection)}</b> with the scopes ${scopes}.</p>
${problemPart(view.problem)}
<form method="post" action="${action}">
<label for="account">Account name at ${escapeHtml(view.connection)}</label>
<input id="account" name="account" value="${escapeHtml(view.hint)}" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="100">
<button class="primary">Connect</button>
</form>
<form method="post" action="${action}"><button class="quiet" name="cancel" value="yes">Cancel</button></form>
<p class="note">For development only: no other provider is contacted, and every account is fictitious.</p>`,
  )
}
