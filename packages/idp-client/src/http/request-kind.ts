import type { RequestHeaders } from './exchange.ts'

const FALSY = new Set(['', '0', 'false'])

function isSet(value: string | null): boolean {
  return value !== null && !FALSY.has(value.trim().toLowerCase())
}

/**
 * Returns whether the request is a prefetch: `Sec-Purpose` (also of a prerender), the older `Purpose`, `X-Sec-Purpose` of Turbo, as
 * scripts cannot set that of browsers, and headers of Next.js. The router of Next.js sets its header to the kind of prefetch, so any
 * value counts. Behind the middleware of Next.js the router's headers are removed; there a router prefetch looks like a plain fetch.
 */
export function isPrefetch(headers: RequestHeaders): boolean {
  return (
    isSet(headers.get('next-router-prefetch')) ||
    isSet(headers.get('next-router-segment-prefetch')) ||
    headers.get('x-middleware-prefetch') === '1' ||
    headers.get('purpose')?.trim().toLowerCase() === 'prefetch' ||
    (headers.get('sec-purpose') ?? headers.get('x-sec-purpose') ?? '').toLowerCase().includes('prefetch')
  )
}

/** Returns whether this is a React Server Components request of the client-side router of Next.js. */
export function isRsc(headers: RequestHeaders): boolean {
  return headers.get('rsc') === '1'
}

/**
 * Returns whether this is a Server Action called from hydrated code; a form posted without JavaScript looks like any
 * navigation.
 */
export function isServerAction(headers: RequestHeaders, method: string): boolean {
  return method.toUpperCase() === 'POST' && headers.has('next-action')
}

/** Returns whether Fetch Metadata shows a destination other than a document or a frame. */
function isSubresource(headers: RequestHeaders): boolean {
  const mode = headers.get('sec-fetch-mode')
  if (mode === null || mode === 'navigate') return false
  // Node's fetch sends only `Sec-Fetch-Mode`; a browser never does.
  return headers.has('sec-fetch-site') || headers.has('sec-fetch-dest')
}

/**
 * Returns whether a page of another site caused the request. Without Fetch Metadata that is unknown and the result is
 * false.
 */
export function isCrossSite(headers: RequestHeaders): boolean {
  return headers.get('sec-fetch-site') === 'cross-site'
}

/**
 * Returns whether the browser shows the response as a document that a page of another site leads to. A service worker that
 * passes a navigation on sends it with an empty destination.
 */
export function isCrossSiteDocument(headers: RequestHeaders): boolean {
  const destination = headers.get('sec-fetch-dest')
  const isPassedOn = destination === 'empty' && headers.get('sec-fetch-mode') === 'navigate'
  return isCrossSite(headers) && (destination === 'document' || isPassedOn)
}

/** Returns whether a page of this origin, or the user, caused the request; true without Fetch Metadata. */
export function isSameOrigin(headers: RequestHeaders): boolean {
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none'
}

/** Returns whether a client-side router fetches data; its headers are also sent without Fetch Metadata (plain http). */
function isRouterFetch(headers: RequestHeaders): boolean {
  return isRsc(headers) || headers.has('x-nextjs-data') || headers.has('next-action')
}

/**
 * Returns whether a response may redirect the user to the provider. True for prefetches too: a prerender navigates. True for a
 * client without the relevant headers (curl, an old browser), because these rules only protect browsers.
 */
export function isNavigation(headers: RequestHeaders): boolean {
  return !isSubresource(headers) && !isRouterFetch(headers)
}

/**
 * Returns the preference for one type (RFC 9110 section 12.5.1): the most precise range that covers it decides. The precision is
 * 2 for the type itself, 1 for a range of subtypes, 0 for anything.
 */
function toPreference(ranges: ReadonlyMap<string, number>, type: string) {
  const candidates = ['*/*', `${type.split('/')[0]}/*`, type]
  for (const precision of [2, 1, 0]) {
    const quality = ranges.get(candidates[precision] ?? '')
    if (quality !== undefined) return { quality, precision }
  }
  return { quality: 0, precision: 0 }
}

function parseAccept(accept: string): Map<string, number> {
  const ranges = new Map<string, number>()
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = weight === undefined ? 1 : Number.parseFloat(weight.slice(2))
    if (type !== '' && quality >= 0 && quality <= 1) ranges.set(type, quality)
  }
  return ranges
}

/** Returns whether `Accept` prefers JSON to HTML. At equal weight a named type takes precedence over a wildcard. */
export function wantsJson(headers: RequestHeaders): boolean {
  const accept = headers.get('accept') ?? '*/*'
  // Most programs send one of these.
  if (accept === '*/*' || accept === 'application/json') return accept !== '*/*'
  const ranges = parseAccept(accept)
  const json = toPreference(ranges, 'application/json')
  const html = toPreference(ranges, 'text/html')
  if (json.quality !== html.quality) return json.quality > html.quality
  return json.quality > 0 && json.precision > html.precision
}
