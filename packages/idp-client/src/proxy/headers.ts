import { IdpError } from '../errors/base.ts'
import type { RequestHeaders } from '../http/exchange.ts'
import { noStore } from '../http/responses.ts'

/** Headers of the browser's request that the API gets. */
const REQUEST = [
  'accept',
  'accept-language',
  'content-type',
  'content-language',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'last-event-id',
  'idempotency-key',
  'prefer',
  'traceparent',
  'tracestate',
]

/** Headers of the API's response that the browser gets, beside those of rate limits. */
const RESPONSE: ReadonlySet<string> = new Set([
  'content-type',
  'content-language',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
  'retry-after',
  'link',
  'x-request-id',
  'deprecation',
  'sunset',
])

/** Headers about caching, which pass with `cache: 'upstream'`. */
const CACHING = ['cache-control', 'expires', 'vary']

/** Headers that never pass, whatever the options say: credentials, hop-by-hop headers, addresses, and orders to proxies and browsers. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'cookie',
  'cookie2',
  'set-cookie',
  'set-cookie2',
  'authorization',
  'dpop',
  'dpop-nonce',
  'www-authenticate',
  'host',
  'forwarded',
  'x-real-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-litespeed-location',
  'x-reproxy-url',
  'service-worker-allowed',
  'clear-site-data',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'accept-ch',
  'set-login',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-security-policy',
  'cross-origin-resource-policy',
  'x-content-type-options',
  'expect',
  'http2-settings',
  'location',
  'content-location',
  'refresh',
])

const FORBIDDEN_STARTS = [
  'proxy-',
  'x-forwarded-',
  'x-http-method',
  'x-method-override',
  'x-accel-',
  'access-control-',
  'x-middleware-',
  'idp-client',
  'sec-',
]

/** Returns whether a header, by its name in lower case, never passes in that direction. */
export function isForbiddenName(name: string, direction: 'request' | 'response'): boolean {
  // `fetch` decodes responses, but not requests.
  const isDecoded = direction === 'response' && name === 'content-encoding'
  return isDecoded || FORBIDDEN.has(name) || FORBIDDEN_STARTS.some((start) => name.startsWith(start))
}

/** Names that `Connection` declares to be for the next hop only (RFC 9110 section 7.6.1). */
function hopByHop(headers: RequestHeaders): readonly string[] {
  const names = headers.get('connection')
  return names === null ? [] : names.split(',').map((name) => name.trim().toLowerCase())
}

/** Returns the headers for the API, without credentials. Nothing is compressed, so that ranges and streams stay as they are. */
export function toRequestHeaders(
  headers: RequestHeaders,
  further: readonly string[],
): Record<string, string> {
  const result: Record<string, string> = { 'accept-encoding': 'identity' }
  const dropped = hopByHop(headers)
  for (const name of [...REQUEST, ...further]) {
    const value = dropped.includes(name) ? null : headers.get(name)
    if (value !== null) result[name] = value
  }
  return result
}

/** Headers that change how a body is read, each with the value that does not. */
const BODY_HEADERS = { 'content-encoding': 'identity', 'content-range': '', 'transfer-encoding': 'chunked' }

/** Throws if the API would misread the body of a request, because it does not get a header that says how to read it. */
export function assertReadable(headers: RequestHeaders, sent: Readonly<Record<string, string>>): void {
  for (const [name, neutral] of Object.entries(BODY_HEADERS)) {
    const value = headers.get(name)?.trim().toLowerCase()
    if (value && value !== neutral && sent[name] === undefined)
      throw new IdpError('PROXY_CONTENT_REFUSED', { detail: `It has the header ${name}.` })
  }
}

/** Policies of every response of an API: it is data, whatever it says, and belongs to pages of this origin. */
const POLICIES = [
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "sandbox; default-src 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
] as const

/** The options about the headers of a response. */
interface ResponseRules {
  readonly responseHeaders: readonly string[]
  readonly cache: 'none' | 'upstream'
}

/** Returns the headers for the browser, without `Location` and `Content-Location`. */
export function toResponseHeaders(headers: Headers, { cache, responseHeaders }: ResponseRules): Headers {
  const result = new Headers()
  const dropped = hopByHop(headers)
  const isUpstream = cache === 'upstream'
  for (const [name, value] of headers) {
    const isAllowed =
      RESPONSE.has(name) ||
      name.startsWith('ratelimit') ||
      responseHeaders.includes(name) ||
      (isUpstream && CACHING.includes(name))
    if (isAllowed && !dropped.includes(name)) result.set(name, value)
  }
  for (const [name, value] of POLICIES) result.set(name, value)
  if (!isUpstream) noStore(result)
  else {
    result.append('vary', 'Cookie')
    // The request of the API had a token, so that shared caches stored nothing without being told to (RFC 9111 section 3.5).
    if (!result.has('cache-control')) result.set('cache-control', 'private')
  }
  return result
}
