import type { Factor } from '../extensions/mfa/factors.ts'
import type { InboxMessage } from '../extensions/mfa/mfa.ts'
import { createMfa } from '../extensions/mfa/mfa.ts'
import { TOTP_STEP, totp } from '../extensions/mfa/totp.ts'
import type { ProviderState } from '../oidc/state.ts'
import type { User } from '../users.ts'
import { DEV_PATH, INBOX_PATH } from '../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { htmlResponse, parseForm, redirectResponse } from '../wire/message.ts'
import { escapeHtml, page } from './html.ts'
import { table } from './table.ts'

const APP = 'authenticator app'
const CHANNELS = { sms: 'text message', voice: 'phone call', email: 'e-mail', push: 'push message' } as const

function inboxUrl(state: ProviderState): string {
  return state.mountPath + INBOX_PATH
}

function buttons(
  state: ProviderState,
  fields: Readonly<Record<string, string>>,
  actions: Readonly<Record<string, string>>,
): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  )
  const choices = Object.entries(actions).map(
    ([action, label]) => `<button name="action" value="${action}">${escapeHtml(label)}</button>`,
  )
  return `<form class="inline" method="post" action="${escapeHtml(inboxUrl(state))}">
${hidden.join('')}${choices.join('')}</form>`
}

function messageRow(state: ProviderState, user: User, message: InboxMessage): readonly string[] {
  const { bindingCode, channel, id } = message
  const text =
    bindingCode === undefined ? 'Approve this sign-in?' : `Your code is <b class="big">${bindingCode}</b>`
  const deny = { deny: 'Deny' }
  const actions = bindingCode === undefined ? { approve: 'Approve', ...deny } : deny
  return [escapeHtml(user.name), CHANNELS[channel], text, buttons(state, { id, user: user.name }, actions)]
}

function toCode({ clock }: ProviderState, secret: string): string {
  const left = TOTP_STEP - (clock.now() % TOTP_STEP)
  return `<b class="big">${totp(secret, clock.now())}</b> valid for ${left} s`
}

function factorRow(state: ProviderState, user: User, factor: Factor): readonly string[] {
  const { active, address = '–', kind, secret } = factor
  const shown = secret === undefined ? escapeHtml(address) : toCode(state, secret)
  const name = kind === 'otp' ? APP : CHANNELS[kind]
  return [escapeHtml(user.name), name, shown, active ? 'active' : 'not confirmed yet']
}

/** Authenticator apps that are being set up at login. */
function appsInSetup(state: ProviderState): readonly (readonly string[])[] {
  return [...state.mfa.logins.values()].flatMap(({ secret, sub }) =>
    secret === undefined
      ? []
      : [[escapeHtml(state.users.bySub(sub)?.name ?? sub), APP, toCode(state, secret), 'being set up']],
  )
}

function userRow(state: ProviderState, user: User): readonly string[] {
  const code = state.mfa.factors.recovery(user.sub)?.code
  const enroll = { enroll: 'Add an authenticator app' }
  const actions = state.mfa.factors.list(user.sub).length > 0 ? { ...enroll, reset: 'Remove all' } : enroll
  return [
    escapeHtml(user.name),
    code === undefined ? '–' : `<code>${code}</code>`,
    buttons(state, { user: user.name }, actions),
  ]
}

function show(state: ProviderState): BufferedResponse {
  const users = state.users.all()
  const mfa = createMfa(state)
  const messages = users.flatMap((user) =>
    mfa.inbox(user.name).map((message) => messageRow(state, user, message)),
  )
  const factors = users.flatMap((user) =>
    mfa.authenticators(user.name).map((factor) => factorRow(state, user, factor)),
  )
  return htmlResponse(
    200,
    page(
      'Inbox',
      `<h1>Inbox</h1>
<p>Codes and messages that the users would receive on their devices. <a href="${escapeHtml(inboxUrl(state))}">Reload</a> ·
<a href="${escapeHtml(state.mountPath + DEV_PATH)}">Overview</a></p>
<h2>Messages</h2>${table(['User', 'Channel', 'Message', 'Response'], messages)}
<h2>Second factors</h2>${table(['User', 'Factor', 'Code or address', 'State'], [...factors, ...appsInSetup(state)])}
<h2>Users</h2>${table(
        ['User', 'Recovery code', 'Second factors'],
        users.map((user) => userRow(state, user)),
      )}`,
      'wide',
    ),
  )
}

/** `/dev/inbox`: messages and codes of all users, with buttons to approve or deny. */
export function inboxPage(state: ProviderState, call: Call): BufferedResponse {
  if (call.method !== 'POST') return show(state)
  const form = parseForm(call)
  const user = state.users.byName(form.get('user') ?? '')
  if (user) {
    const mfa = createMfa(state)
    const message = mfa.inbox(user.name).find(({ id }) => id === form.get('id'))
    const action = form.get('action')
    if (action === 'approve' && message?.bindingCode === undefined) message?.approve()
    if (action === 'deny') message?.deny()
    if (action === 'enroll') mfa.enrollOtp(user.name)
    if (action === 'reset') mfa.reset(user.name)
  }
  return redirectResponse(inboxUrl(state))
}
