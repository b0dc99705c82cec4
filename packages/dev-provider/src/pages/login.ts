import type { User } from '../users.ts'
import { escapeHtml, page, problemPart } from './html.ts'

export interface LoginPage {
  /** Where the forms are posted. */
  readonly action: string
  readonly app: string
  readonly scopes: readonly string[]
  readonly users: readonly User[]
  readonly mode: 'login' | 'signup' | 'consent'
  /** The user who is already signed in, if only consent is missing. */
  readonly current: User | undefined
  readonly hint: string
  /** Path of the page that lists all requests and users. */
  readonly overview: string
  readonly problem?: string
}

function text(value: unknown, fallback: string): string {
  return escapeHtml(typeof value === 'string' && value.trim() !== '' ? value : fallback)
}

function card(user: User, action: string): string {
  const picture = user.claims['picture']
  const image =
    typeof picture === 'string' && URL.canParse(picture)
      ? `<img src="${escapeHtml(picture)}" alt="" width="40" height="40">`
      : ''
  return `<li><form method="post" action="${escapeHtml(action)}">
<button class="user" name="user" value="${escapeHtml(user.name)}">${image}
<span><b>${text(user.label ?? user.claims['name'], user.name)}</b><small>${text(user.claims['email'], user.sub)}</small></span>
</button></form></li>`
}

const TITLES = { login: 'Sign in', signup: 'Create an account', consent: 'Allow access?' } as const

function chooser({ action, users, mode, hint, current }: LoginPage): string {
  if (mode === 'consent' && current) {
    return `<form method="post" action="${escapeHtml(action)}">
<button class="primary" name="user" value="${escapeHtml(current.name)}">Continue as ${text(current.label ?? current.claims['name'], current.name)}</button>
</form>`
  }
  const signup = mode === 'signup'
  const cards = signup ? '' : `<ul class="users">${users.map((user) => card(user, action)).join('\n')}</ul>`
  return `${cards}
<form method="post" action="${escapeHtml(action)}">
<label for="user">${signup ? 'Choose a user name' : 'Or enter a user name'}</label>
<input id="user" name="user" value="${escapeHtml(hint)}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="100">
${signup ? '<input type="hidden" name="create" value="yes">' : ''}
<button class="primary">${signup ? 'Create account' : 'Sign in'}</button>
</form>`
}

/** Returns the page on which a user signs in, signs up or consents. Works without JavaScript. */
export function loginPage(view: LoginPage): string {
  const scopes = view.scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' ')
  return page(
    TITLES[view.mode],
    `<h1>${TITLES[view.mode]}</h1>
<p><b>${escapeHtml(view.app)}</b> requests ${scopes === '' ? 'no scopes' : `the scopes ${scopes}`}.</p>
${problemPart(view.problem)}
${chooser(view)}
<form method="post" action="${escapeHtml(view.action)}"><button class="quiet" name="deny" value="yes">Deny</button></form>
<p class="note">For development only: no passwords, and every user is fictitious.
<a href="${escapeHtml(view.overview)}">All requests to this provider</a></p>`,
  )
}
