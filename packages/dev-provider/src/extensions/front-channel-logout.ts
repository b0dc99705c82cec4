import { createHash } from 'node:crypto'
import type { ProviderState } from '../oidc/state.ts'
import { cookieNames } from '../oidc/state.ts'
import { escapeHtml, page } from '../pages/html.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { getCookie, htmlResponse, parseJson, withBody } from '../wire/message.ts'

/**
 * The parameters of the iframes on the logout page. `iss-and-sid`: both, as the standard wants it. `sid`: without the
 * issuer, as at Microsoft Entra ID. `none`: neither, as for a client that did not ask for them.
 */
export type FrontChannelParameters = (typeof FRONT_CHANNEL_PARAMETERS)[number]
export const FRONT_CHANNEL_PARAMETERS = ['iss-and-sid', 'sid', 'none'] as const

/** The addresses of the iframes that end the browser's session at every application that took part in it. */
export function frontChannelUrls(state: ProviderState, call: Call): readonly string[] {
  const session = state.store.find('Session', getCookie(call, cookieNames(state.issuer).session) ?? '')
  const { frontChannelParameters } = state.settings
  return Object.entries(session?.authorizations ?? {}).flatMap(([clientId, { sid }]) =>
    [...(state.clients.find(clientId)?.frontChannelLogoutUris ?? [])].map((uri) => {
      const url = new URL(uri)
      if (frontChannelParameters === 'iss-and-sid') url.searchParams.append('iss', state.issuer)
      if (frontChannelParameters !== 'none' && sid !== undefined) url.searchParams.append('sid', sid)
      return url.href
    }),
  )
}

/* Continues when every application has responded, however it did. */
const SCRIPT = `
const next = document.querySelector('a#next')
const loaded = [...document.querySelectorAll('iframe')].map((frame) => new Promise((resolve) => {
  frame.addEventListener('load', resolve)
  frame.src = frame.dataset.src
}))
Promise.all(loaded).then(() => {
  document.querySelector('#state').textContent = 'You are signed out everywhere.'
  if (next) location.replace(next.href)
})
`
const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64')

/**
 * The page after a logout, with an iframe for each address (OpenID Connect Front-Channel Logout 1.0 section 3); it then
 * redirects as the response does. Without addresses the response stays.
 */
export function withLogoutFrames(urls: readonly string[], response: BufferedResponse): BufferedResponse {
  const { location } = response.headers
  const isDone = response.status === 200 || (typeof location === 'string' && response.status < 400)
  if (urls.length === 0 || !isDone) return response
  const frames = urls.map((url) => `<iframe hidden title="logout" data-src="${escapeHtml(url)}"></iframe>`)
  const link =
    typeof location === 'string' ? `<p><a id="next" href="${escapeHtml(location)}">Continue</a></p>` : ''
  const html = page(
    'Signing out',
    `<h1>Signing out</h1><p id="state">The applications are being told.</p>${link}
${frames.join('\n')}
<script>${SCRIPT}</script>`,
  )
  const { headers, ...rest } = htmlResponse(200, html)
  const cookies = response.headers['set-cookie']
  return {
    ...rest,
    headers: {
      ...headers,
      'content-security-policy': `script-src 'sha256-${SCRIPT_HASH}'`,
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    },
  }
}

/** The metadata with what this provider supports (section 3). */
export function withFrontChannelMetadata(
  { settings }: ProviderState,
  metadata: BufferedResponse,
): BufferedResponse {
  const body = parseJson(metadata)
  if (!body) return metadata
  const supported = {
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: settings.frontChannelParameters === 'iss-and-sid',
  }
  return withBody(metadata, JSON.stringify({ ...body, ...supported }))
}
