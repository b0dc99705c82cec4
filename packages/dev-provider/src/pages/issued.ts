import type { ProviderState } from '../oidc/state.ts'
import { DEV_PATH } from '../wire/endpoints.ts'
import type { BufferedResponse } from '../wire/message.ts'
import { htmlResponse } from '../wire/message.ts'
import { escapeHtml, page } from './html.ts'
import { table } from './table.ts'

const HEAD = ['Issued', 'Token', 'SHA-256', 'Client', 'User', 'Grant', 'Audience', 'Scope', 'Expires']

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

function keep(text: string): string {
  return `<span class="keep">${escapeHtml(text)}</span>`
}

/** `/dev/issued`: the latest tokens, without the tokens. */
export function issuedPage(state: ProviderState): BufferedResponse {
  const rows = state.issued.map((token) => {
    const user = token.sub === undefined ? undefined : state.users.bySub(token.sub)
    return [
      escapeHtml(clockTime(token.time)),
      escapeHtml(token.kind),
      keep(token.hash),
      keep(token.clientId),
      escapeHtml(user?.name ?? token.sub ?? '–'),
      keep(token.grantId?.slice(0, 8) ?? '–'),
      escapeHtml(token.audience ?? '–'),
      escapeHtml(token.scope),
      escapeHtml(clockTime(token.expiresAt)),
    ]
  })
  return htmlResponse(
    200,
    page(
      'Issued tokens',
      `<h1>Issued tokens</h1>
<p>The latest ${rows.length}, the newest first, in UTC. <a href="${escapeHtml(state.mountPath + DEV_PATH)}">Overview</a></p>
${table(HEAD, rows)}`,
      'wide',
    ),
  )
}
