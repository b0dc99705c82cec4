import { createCiba } from '../extensions/ciba.ts'
import type { ProviderState } from '../oidc/state.ts'
import { portrait } from '../users.ts'
import { AVATAR_PATH, DEV_PATH, INBOX_PATH, ISSUED_PATH, PATHS } from '../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { getPath, htmlResponse, jsonResponse, parseForm, redirectResponse } from '../wire/message.ts'
import type { RequestLog } from '../wire/request-log.ts'
import { escapeHtml, page } from './html.ts'
import { inboxPage } from './inbox.ts'
import { issuedPage } from './issued.ts'
import { table } from './table.ts'

const ISSUED = [
  ['Session', 'Browser sessions'],
  ['Grant', 'Grants'],
  ['AuthorizationCode', 'Authorization codes'],
  ['AccessToken', 'Opaque access tokens'],
  ['RefreshToken', 'Refresh tokens'],
] as const

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

/** The latest requests with the error of each. Requests of these pages and of browsers for an icon are left out. */
function requestTable(log: RequestLog): string {
  const rows = log
    .all()
    .filter(({ endpoint, url }) => endpoint !== 'dev' && url !== '/favicon.ico')
    .slice(-40)
    .reverse()
    .map(({ body, failure, method, status, time, url }) => {
      // Ids of interactions say nothing and make the column wide.
      const short = (url.split('?', 1)[0] ?? '').replace(/[\w-]{30,}/g, (id) => `${id.slice(0, 6)}…`)
      const path = escapeHtml(`${method} ${short}`)
      const grantType = body['grant_type']
      return [
        new Date(time).toISOString().slice(11, 19),
        grantType === undefined ? path : `${path}<br><small>${escapeHtml(grantType)}</small>`,
        String(status ?? '–'),
        failure ? `<b>${escapeHtml(failure.error)}</b><br>${escapeHtml(failure.reason)}` : '',
      ]
    })
  return table(['Time (UTC)', 'Request', 'Status', 'Error'], rows)
}

function clientTable(state: ProviderState): string {
  const { allowLoopbackRedirects } = state.settings
  const rows = state.clients
    .all()
    .map((client) => [
      escapeHtml(client.clientId),
      escapeHtml(client.options.tokenEndpointAuthMethod ?? 'client_secret_basic'),
      [...client.redirectUris].map(escapeHtml).join('<br>'),
      [...client.postLogoutRedirectUris].map(escapeHtml).join('<br>'),
    ])
  const rule = allowLoopbackRedirects
    ? 'Any address on this machine is accepted beside the registered ones.'
    : 'Only the registered addresses are accepted.'
  return `<p>${rule}</p>${table(['Client id', 'Authentication', 'Redirect URIs', 'Logout URLs'], rows)}`
}

function apiTable(state: ProviderState): string {
  const rows = state.apis.all().map(({ audience, scopes, requiresMfa }) => {
    const factors = requiresMfa === true ? ['any'] : requiresMfa || []
    return [audience, scopes.join(' '), factors.join(', ')].map(escapeHtml)
  })
  return table(['Audience', 'Scopes', 'Further factor'], rows)
}

function overview(state: ProviderState, log: RequestLog): string {
  const users = state.users
    .all()
    .map(({ name, sub, organizations }) =>
      [name, sub, organizations.map((one) => `${one.name} (${one.id})`).join(', ')].map(escapeHtml),
    )
  const issued = ISSUED.map(([model, label]) => [label, String(state.store.list(model).length)])
  return page(
    'Overview',
    `<h1>Development identity provider</h1>
<p>Issuer <code>${escapeHtml(state.issuer)}</code> ·
<a href="${escapeHtml(state.mountPath + PATHS.discovery)}">metadata</a> ·
<a href="${escapeHtml(state.mountPath + INBOX_PATH)}">inbox with codes and messages</a> ·
<a href="${escapeHtml(state.mountPath + ISSUED_PATH)}">issued tokens</a></p>
<h2>Clients</h2>${clientTable(state)}
<h2>APIs</h2>${apiTable(state)}
<h2>Latest requests</h2>${requestTable(log)}
<h2>Users</h2>${table(['Name', 'Subject', 'Organizations'], users)}
<h2>Connected accounts</h2>${accountTable(state)}
<h2>Waiting for approval (CIBA)</h2>${pendingTable(state)}
<h2>Active</h2>${table(['Kind', 'Count'], issued)}`,
    'wide',
  )
}

function avatar(file: string): BufferedResponse {
  return {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600' },
    body: Buffer.from(portrait(file.replace(/\.svg$/, ''))),
  }
}

/** `/dev` and the pages below it: state of this provider, its latest requests, and the users' devices. */
export async function devPage(state: ProviderState, log: RequestLog, call: Call): Promise<BufferedResponse> {
  const path = getPath(call).slice(state.mountPath.length)
  // Any page that a developer visits could post here; only our own may.
  if (call.method === 'POST' && call.headers.origin !== new URL(state.issuer).origin) {
    return jsonResponse(403, { error: 'foreign_origin' })
  }
  if (path === DEV_PATH && call.method === 'GET') return htmlResponse(200, overview(state, log))
  if (path === INBOX_PATH) return inboxPage(state, call)
  if (path === ISSUED_PATH) return issuedPage(state)
  if (path.startsWith(`${AVATAR_PATH}/`)) return avatar(path.slice(AVATAR_PATH.length + 1))
  if (path !== `${DEV_PATH}/ciba` || call.method !== 'POST') return jsonResponse(404, { error: 'not_found' })
  const form = parseForm(call)
  const decide = form.get('decision') === 'approve' ? 'approve' : 'deny'
  await createCiba(state)[decide](form.get('id') ?? '')
  return redirectResponse(`${state.mountPath}${DEV_PATH}`)
}
