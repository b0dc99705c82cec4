import { renderSVG } from 'uqr'
import { escapeHtml, page, problemPart } from './html.ts'

export interface SecondStepPage {
  /** Where the forms are posted. */
  readonly action: string
  readonly app: string
  /** Path of the page with the codes of all users. */
  readonly inbox: string
  /** Name of the user who signs in. */
  readonly account: string
  /** An authenticator app that is to be enrolled: its secret, and the URI for its QR code. */
  readonly enrollment?: { readonly secret: string; readonly uri: string }
  readonly problem?: string
}

function enrollmentPart({ secret, uri }: NonNullable<SecondStepPage['enrollment']>): string {
  const grouped = secret.replace(/.{4}(?=.)/g, '$& ')
  return `<p>Scan the QR code with an authenticator app, or enter the secret there:</p>
<div class="qr" role="img" aria-label="QR code of the secret">${renderSVG(uri, { border: 2 })}</div>
<p><code id="secret">${escapeHtml(grouped)}</code></p>`
}

/** Returns the page on which a user enters a code, or first enrolls an authenticator app. */
export function secondStepPage(view: SecondStepPage): string {
  const title = view.enrollment ? 'Set up a second factor' : 'Second factor'
  const action = escapeHtml(view.action)
  return page(
    title,
    `<h1>${title}</h1>
<p><b>${escapeHtml(view.app)}</b> asks <b id="account">${escapeHtml(view.account)}</b> for a second factor.</p>
${view.enrollment ? enrollmentPart(view.enrollment) : ''}
${problemPart(view.problem)}
<form method="post" action="${action}">
<label for="otp">Code from the authenticator app</label>
<input id="otp" class="code" name="otp" value="" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" maxlength="7" required autofocus>
<button class="primary">Continue</button>
</form>
<form method="post" action="${action}"><button class="quiet" name="deny" value="yes">Deny</button></form>
<p class="note">For development only: the <a href="${escapeHtml(view.inbox)}" target="_blank">inbox</a> shows everyone’s codes.</p>`,
  )
}
