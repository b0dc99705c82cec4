import { createCiba } from '../extensions/ciba.ts'
import type { ProviderState } from '../oidc/state.ts'
import { portrait } from '../users.ts'
import { AVATAR_PATH, DEV_PATH, INBOX_PATH, ISSUED_PATH, PATHS } from '../wire/endpoints.ts'
import type { Answer, Call } from '../wire/message.ts'
import { formOf, htmlAnswer, jsonAnswer, pathOf, redirectAnswer } from '../wire/message.ts'
import type { RequestLog } from '../wire/request-log.ts'
import { escapeHtml, page } from './html.ts'
import { inboxPage } from './inbox.ts'
import { issuedPage } from './issued.ts'
import { table } from './table.ts'

const ISSUED = ['Session', 'Grant', 'AuthorizationCode', 'AccessToken', 'RefreshToken'] as const

function pendingTable(state: ProviderState): string {
  const action = escapeHtml(`${state.mountPath}${DEV_PATH}/ciba`)
  const rows = createCiba(state)
    .pending()
    .map((request) => [
      escapeHtml(request.sub),
      escapeHtml(request.bindingMessage ?? ''),
      `<form class="inline" method="post" action="${action}">
<input type="hidden" name="id" value="${escapeHtml(request.authReqId)}">
<button name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button></form>`,
    ])
  return table(['User', 'Message', 'Decision'], rows)
}

function accountTable(state: ProviderState): string {
  const rows = state.users
    .all()
    .flatMap((user) =>
      state.accounts
        .list(user.sub)
        .map(({ connection, name, scopes }) =>
          [user.name, connection, name, scopes.join(' ')].map(escapeHtml),
        ),
    )
  return table(['User', 'Connection', 'Account', 'Scopes'], rows)
}

function overview(state: ProviderState, log: RequestLog): string {
  const users = state.users
    .all()
    .map(({ name, sub, organizations }) =>
      [name, sub, organizations.map((one) => `${one.name} (${one.id})`).join(', ')].map(escapeHtml),
    )
  const clients = state.clients
    .all()
    .map((client) => [
      escapeHtml(client.clientId),
      escapeHtml(client.options.tokenEndpointAuthMethod ?? 'client_secret_basic'),
      [...client.redirectUris].map(escapeHtml).join('<br>'),
    ])
  const issued = ISSUED.map((model) => [model, String(state.store.list(model).length)])
  const recent = log
    .all()
    .slice(-25)
    .reverse()
    .map((entry) => [
      new Date(entry.time).toISOString(),
      escapeHtml(`${entry.method} ${entry.url.split('?', 1)[0] ?? ''}`),
      String(entry.status ?? '–'),
    ])
  return page(
    'Overview',
    `<h1>Development identity provider</h1>
<p>Issuer <code>${escapeHtml(state.issuer)}</code> ·
<a href="${escapeHtml(state.mountPath + PATHS.discovery)}">metadata</a> ·
<a href="${escapeHtml(state.mountPath + INBOX_PATH)}">inbox of the users</a> ·
<a href="${escapeHtml(state.mountPath + ISSUED_PATH)}">issued tokens</a></p>
<h2>Waiting for approval (CIBA)</h2>${pendingTable(state)}
<h2>Users</h2>${table(['Name', 'Subject', 'Organizations'], users)}
<h2>Connected accounts</h2>${accountTable(state)}
<h2>Clients</h2>${table(['Client id', 'Authentication', 'Redirect URIs'], clients)}
<h2>Issued and alive</h2>${table(['Kind', 'Count'], issued)}
<h2>Latest requests</h2>${table(['Time', 'Request', 'Status'], recent)}`,
    'wide',
  )
}

function avatar(file: string): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600' },
    body: Buffer.from(portrait(file.replace(/\.svg$/, ''))),
  }
}

/** `/dev`: what this provider knows and has issued, and the decisions a phone would make. */
export async function devPage(state: ProviderState, log: RequestLog, call: Call): Promise<Answer> {
  const path = pathOf(call).slice(state.mountPath.length)
  // Any page that a developer visits could post here; only our own may.
  if (call.method === 'POST' && call.headers.origin !== new URL(state.issuer).origin) {
    return jsonAnswer(403, { error: 'foreign_origin' })
  }
  if (path === DEV_PATH && call.method === 'GET') return htmlAnswer(200, overview(state, log))
  if (path === INBOX_PATH) return inboxPage(state, call)
  if (path === ISSUED_PATH) return issuedPage(state)
  if (path.startsWith(`${AVATAR_PATH}/`)) return avatar(path.slice(AVATAR_PATH.length + 1))
  if (path !== `${DEV_PATH}/ciba` || call.method !== 'POST') return jsonAnswer(404, { error: 'not_found' })
  const form = formOf(call)
  const decide = form.get('decision') === 'approve' ? 'approve' : 'deny'
  await createCiba(state)[decide](form.get('id') ?? '')
  return redirectAnswer(`${state.mountPath}${DEV_PATH}`)
}
