import { gzipSync } from 'node:zlib'
import type { Message, RawHeader } from './bytes.ts'
import { toLocation } from './redirects.ts'
import type { UpstreamRequest } from './requests.ts'
import type { MessageResponse } from './responses.ts'

type Kind = MessageResponse['kind']
type Response<K extends Kind> = Extract<MessageResponse, { readonly kind: K }>

const JSON_TYPE: RawHeader = ['Content-Type', 'application/json']
const SCRIPT = "document.documentElement.dataset.script = 'ran'"
const BODY = '{"ok":true}'

/** The responses that are always the same. */
const fixed: Record<
  Exclude<Kind, 'respond' | 'echo' | 'useDpopNonce' | 'dpopNonce' | 'redirect'>,
  Partial<Message>
> = {
  html: {
    headers: [['Content-Type', 'text/html; charset=utf-8']],
    body: `<!doctype html><title>Upstream</title><script>${SCRIPT}</script>`,
  },
  svg: {
    headers: [['Content-Type', 'image/svg+xml']],
    body: `<svg xmlns="http://www.w3.org/2000/svg"><script>${SCRIPT}</script></svg>`,
  },
  setCookie: {
    headers: [
      JSON_TYPE,
      ['Set-Cookie', 'plain=1'],
      ['Set-Cookie', 'session=2; Path=/; HttpOnly'],
      ['Set-Cookie', '__Host-session=3; Path=/; Secure'],
    ],
  },
  serverDirectives: {
    headers: [
      JSON_TYPE,
      ['X-Accel-Redirect', '/internal/file'],
      ['X-Accel-Buffering', 'yes'],
      ['X-Accel-Expires', '3600'],
      ['X-Sendfile', '/etc/passwd'],
      ['X-Middleware-Rewrite', 'http://other.example/'],
      ['X-Middleware-Next', '1'],
    ],
  },
  clearSiteData: { headers: [JSON_TYPE, ['Clear-Site-Data', '"cookies", "storage"']] },
  serviceWorker: {
    headers: [
      ['Content-Type', 'text/javascript'],
      ['Service-Worker-Allowed', '/'],
    ],
    body: "self.addEventListener('fetch', (event) => event.respondWith(new Response('taken over')))",
  },
  cors: {
    headers: [
      JSON_TYPE,
      ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Allow-Credentials', 'true'],
      ['Access-Control-Allow-Methods', '*'],
      ['Access-Control-Allow-Headers', '*'],
      ['Access-Control-Expose-Headers', '*'],
    ],
  },
  policies: {
    headers: [
      JSON_TYPE,
      ['Cache-Control', 'public, max-age=3600'],
      ['Content-Security-Policy', 'default-src * data: blob:'],
      ['Cross-Origin-Resource-Policy', 'cross-origin'],
      ['X-Content-Type-Options', 'off'],
      ['Vary', '*'],
      ['Refresh', '0; url=http://other.example/'],
    ],
  },
  lookalike: {
    status: 401,
    headers: [JSON_TYPE, ['idp-client-error', '1']],
    body: '{"code":"MISSING_SESSION"}',
  },
  unauthorized: { status: 401 },
  basicChallenge: { status: 401, headers: [JSON_TYPE, ['WWW-Authenticate', 'Basic realm="upstream"']] },
  invalidToken: {
    status: 401,
    headers: [JSON_TYPE, ['WWW-Authenticate', 'Bearer realm="upstream", error="invalid_token"']],
  },
  gzip: { headers: [JSON_TYPE, ['Content-Encoding', 'gzip']], body: gzipSync(BODY) },
  falseGzip: { headers: [JSON_TYPE, ['Content-Encoding', 'gzip']] },
  connectionNamed: { headers: [JSON_TYPE, ['Connection', 'x-named'], ['X-Named', 'secret']] },
}

function toRedirect(response: Response<'redirect'>, target: string): Message {
  const { header = 'location', location = toLocation(response.to ?? 'path', target) } = response
  const headers: RawHeader[] = [JSON_TYPE]
  if (header !== 'content-location') headers.push(['Location', location])
  if (header !== 'location') headers.push(['Content-Location', location])
  return { status: response.status ?? (header === 'content-location' ? 200 : 302), headers, body: BODY }
}

function toNonce(response: Response<'useDpopNonce' | 'dpopNonce'>): Message {
  const nonce: RawHeader = ['DPoP-Nonce', response.nonce ?? 'upstream-nonce']
  if (response.kind === 'dpopNonce') return { status: 200, headers: [JSON_TYPE, nonce], body: BODY }
  const challenge: RawHeader = ['WWW-Authenticate', 'DPoP algs="ES256", error="use_dpop_nonce"']
  return { status: 401, headers: [JSON_TYPE, challenge, nonce], body: BODY }
}

/** Returns the message of a well-formed response; `target` is the URL of the API. */
export function toMessage(response: MessageResponse, request: UpstreamRequest, target: string): Message {
  switch (response.kind) {
    case 'respond':
      return { status: response.status ?? 200, headers: response.headers ?? [], body: response.body ?? '' }
    case 'echo': {
      const { method, target, bodyBytes: bytes, sha256 } = request
      return { status: 200, headers: [JSON_TYPE], body: JSON.stringify({ method, target, bytes, sha256 }) }
    }
    case 'redirect':
      return toRedirect(response, target)
    case 'useDpopNonce':
    case 'dpopNonce':
      return toNonce(response)
    default:
      return { status: 200, headers: [JSON_TYPE], body: BODY, ...fixed[response.kind] }
  }
}
