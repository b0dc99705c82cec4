import { claimEqual } from '../claim.ts'
import { own } from '../proxied-page.ts'
import type { RawHeaders } from '../raw-request.ts'
import type { ProxyAttack } from './attack.ts'
import { ownWrite } from './attack.ts'

/** A request that is sent on, but without these headers. */
const dropped = (title: string, headers: RawHeaders, statuses: readonly number[] = [200]): ProxyAttack => ({
  title,
  headers: () => ({ ...own, ...headers }),
  statuses,
  // A server in front may reject the request.
  sent: statuses.length > 1 ? [0, 1] : [1],
  check(_response, request) {
    if (request) claimEqual(request.method, 'GET', 'the method that the API gets')
  },
})

/** A body that the API would misread without a header that is dropped. */
const unreadable = (title: string, headers: RawHeaders): ProxyAttack => ({
  title,
  method: 'POST',
  // SvelteKit reads no body without a type; body parsers read some types.
  headers: (origin) => ({ ...ownWrite(origin), 'content-type': 'application/pdf', ...headers }),
  body: 'x',
  statuses: [415],
  sent: [0],
  code: 'PROXY_CONTENT_REFUSED',
})

const REJECTED_BY_SERVER = [0, 400, 403, 404, 405, 417, 500, 501] as const

/** Attacks by headers: all but the allowed ones are dropped, as `claimClean` asserts for each request that the API gets. */
const headers: readonly ProxyAttack[] = [
  dropped('a token of the sender', { authorization: 'Bearer stolen' }),
  dropped('Basic of the sender', { authorization: 'Basic dTpw' }),
  dropped('a DPoP proof of the sender', { dpop: 'proof' }),
  dropped('a header that Connection names', { connection: 'close, x-y, authorization', 'x-y': '1' }),
  dropped('an allowed header that Connection names', { connection: 'close, prefer', prefer: 'x' }),
  dropped('addresses of a proxy', {
    'x-forwarded-for': '10.0.0.1',
    'x-forwarded-user': 'admin',
    'x-forwarded-prefix': '/admin',
    'x-real-ip': '10.0.0.1',
    'x-client-ip': '10.0.0.1',
    'true-client-ip': '10.0.0.1',
    via: '1.1 evil',
  }),
  dropped('Forwarded', { forwarded: 'for=10.0.0.1;host=evil.example' }),
  dropped('an override of the method', {
    'x-http-method-override': 'DELETE',
    'x-http-method': 'DELETE',
    'x-method-override': 'DELETE',
  }),
  dropped('an override of the path', {
    'x-original-url': '/admin',
    'x-rewrite-url': '/admin',
    'x-original-uri': '/admin',
  }),
  dropped('headers for proxies', {
    'proxy-authorization': 'Basic dTpw',
    'proxy-connection': 'keep-alive',
    te: 'trailers',
    'max-forwards': '0',
  }),
  dropped('headers of other software', {
    'x-accel-redirect': '/admin',
    'x-sendfile': '/etc/passwd',
    'x-remote-user': 'admin',
    'x-amz-security-token': 'x',
    'x-api-key': 'x',
  }),
  dropped('hints for this library', { 'idp-client': 'background', 'idp-client-error': '1' }),
  dropped('Referer and Origin', { referer: 'http://app.example/secret?code=1' }),
  dropped('an expectation', { expect: '100-continue' }, [200, ...REJECTED_BY_SERVER]),
  dropped('an expectation of no standard', { expect: 'x' }, [200, ...REJECTED_BY_SERVER]),
  {
    title: 'an upgrade to WebSocket',
    headers: () => ({
      ...own,
      connection: 'Upgrade, close',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    }),
    statuses: [0, 400, 404, 426, 501],
    sent: [0],
  },
  {
    title: 'a length beside chunks',
    method: 'POST',
    headers: (origin) => ({ ...ownWrite(origin), 'transfer-encoding': 'chunked', 'content-length': '4' }),
    body: '5\r\nhello\r\n0\r\n\r\n',
    statuses: [200, 502, ...REJECTED_BY_SERVER],
    sent: [0, 1],
  },
  {
    title: 'two lengths',
    method: 'POST',
    headers: (origin) => ({ ...ownWrite(origin), 'content-length': ['4', '9'] }),
    body: 'hello',
    statuses: REJECTED_BY_SERVER,
    sent: [0],
  },
  unreadable('a compressed body', { 'content-encoding': 'gzip' }),
  unreadable('a part of a resource', { 'content-range': 'bytes 0-0/9' }),
]

const method = (name: string, { statuses = [405], ...further }: Partial<ProxyAttack> = {}): ProxyAttack => ({
  title: `the method ${name}`,
  method: name,
  headers: ownWrite,
  statuses,
  sent: [0],
  ...further,
})

/** Statuses of servers for a method that they do not know. */
const UNKNOWN = [0, 400, 404, 405, 500, 501] as const

const methods: readonly ProxyAttack[] = [
  method('OPTIONS', {
    check: ({ headers }) =>
      claimEqual(
        headers.some(([name]) => /^access-control-/.test(name)),
        false,
        'CORS',
      ),
  }),
  ...['TRACE', 'CONNECT', 'PURGE', 'QUERY', 'PROPFIND'].map((name) => method(name, { statuses: UNKNOWN })),
  // Some servers take it for the standard method.
  method('get', { statuses: [200, ...UNKNOWN], sent: [0, 1] }),
  method('pUT', { statuses: [200, ...UNKNOWN], sent: [0, 1] }),
]

const crossSite = (
  title: string,
  headers: (origin: string) => RawHeaders,
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
): ProxyAttack => ({
  title: `${title}, ${method}`,
  method,
  headers,
  statuses: [403],
  sent: [0],
  ...(method === 'HEAD' ? {} : { code: 'CROSS_SITE_REQUEST' }),
})

const EVIL = 'https://evil.example'

const ORIGINS: Readonly<Record<string, (origin: string) => RawHeaders>> = {
  'a page of another site': () => ({ 'sec-fetch-site': 'cross-site', origin: EVIL }),
  'a page of another site without Origin': () => ({ 'sec-fetch-site': 'cross-site' }),
  'a page of another site with our origin': (origin) => ({ 'sec-fetch-site': 'cross-site', origin }),
  'a sibling': () => ({ 'sec-fetch-site': 'same-site', origin: 'https://sibling.example' }),
  'a sibling without Origin': () => ({ 'sec-fetch-site': 'same-site' }),
  'the address bar': () => ({ 'sec-fetch-site': 'none' }),
  'no value of Sec-Fetch-Site': () => ({ 'sec-fetch-site': 'same-origin, same-origin' }),
  'an opaque origin': () => ({ origin: 'null' }),
  'an opaque origin of this site': () => ({ 'sec-fetch-site': 'same-origin', origin: 'null' }),
  'another origin of this site': () => ({ 'sec-fetch-site': 'same-origin', origin: EVIL }),
  'another site in an old browser': () => ({ origin: EVIL }),
  'another site in an old browser that claims to be ours': () => ({ origin: EVIL, 'idp-client': '1' }),
  'our origin with a longer name': (origin) => ({ origin: `${origin}.evil.example` }),
  'our origin with another port': (origin) => ({ origin: `${origin.replace(/:\d+$/, '')}:1` }),
  'our origin and another one': (origin) => ({ origin: `${origin}, ${EVIL}` }),
  'an old browser': () => ({}),
  'an old browser with another value of our header': () => ({ 'idp-client': 'yes' }),
}

const origins: readonly ProxyAttack[] = [
  ...Object.entries(ORIGINS).flatMap(([title, toHeaders]) => [
    crossSite(title, toHeaders),
    crossSite(title, toHeaders, 'POST'),
  ]),
  crossSite('an old browser', () => ({}), 'HEAD'),
  crossSite('an old browser with our header', () => ({ 'idp-client': '1' }), 'POST'),
  // Otherwise the attacks would be refused for another reason.
  { title: 'our header', headers: () => ({ 'idp-client': '1' }), statuses: [200], sent: [1] },
  { title: 'our origin', headers: (origin) => ({ origin }), statuses: [200], sent: [1] },
  { title: 'a write', method: 'POST', headers: ownWrite, body: 'x', statuses: [200], sent: [1] },
  { title: 'a delete', method: 'DELETE', headers: ownWrite, statuses: [200], sent: [1] },
]

const SHOWN = [
  'document', 'iframe', 'frame', 'fencedframe', 'object', 'embed', 'script', 'style', 'font', 'worker',
  'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'manifest', 'report', 'xslt', 'json', 'EMPTY',
] // biome-ignore format: a list

const DATA = ['empty', 'image', 'audio', 'video', 'track']

const destination = (value: string, further: RawHeaders = {}): RawHeaders => ({
  'sec-fetch-site': 'same-origin',
  'sec-fetch-dest': value,
  ...further,
})

const refusedDocument = (
  attack: Pick<ProxyAttack, 'title' | 'method' | 'headers' | 'body'>,
): ProxyAttack => ({
  ...attack,
  statuses: [403],
  code: 'PROXY_DOCUMENT_REFUSED',
  sent: [0],
})

const destinations: readonly ProxyAttack[] = [
  ...SHOWN.map((value) =>
    refusedDocument({ title: `the destination "${value}"`, headers: () => destination(value) }),
  ),
  refusedDocument({
    title: 'a navigation',
    headers: () => destination('empty', { 'sec-fetch-mode': 'navigate' }),
  }),
  refusedDocument({
    title: 'a form of the application',
    method: 'POST',
    headers: (origin) => destination('document', { 'sec-fetch-mode': 'navigate', origin }),
    body: 'a=1',
  }),
  ...DATA.map(
    (value): ProxyAttack => ({
      title: `data for "${value}"`,
      headers: () => destination(value),
      statuses: [200],
      sent: [1],
    }),
  ),
]

/** Attacks by headers and methods. */
export const requests: readonly ProxyAttack[] = [...headers, ...methods]

/** Attacks by other sites, and by what a browser would show or run. */
export const sites: readonly ProxyAttack[] = [...origins, ...destinations]
