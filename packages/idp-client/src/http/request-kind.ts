/**
 * The kind of a request, according to its headers. `'unknown'` is a client that does not say (curl, an old browser):
 * it counts as a navigation, since only browsers are protected by these rules.
 */
export type RequestKind = 'navigation' | 'prefetch' | 'rsc' | 'server-action' | 'fetch' | 'unknown'

interface Classifiable {
  readonly method: string
  readonly headers: Headers
}

const FALSY = new Set(['', '0', 'false'])

function isSet(value: string | null): boolean {
  return value !== null && !FALSY.has(value.trim().toLowerCase())
}

/**
 * Whether nobody has asked for this yet: `Sec-Purpose` (also of a prerender), the older `Purpose`, and Next's own
 * headers. Next's router values its header by the kind of prefetch, so any value counts. Behind Next's middleware the
 * router's headers are removed; there a router prefetch shows as a plain fetch.
 */
export function isPrefetch(headers: Headers): boolean {
  return (
    isSet(headers.get('next-router-prefetch')) ||
    isSet(headers.get('next-router-segment-prefetch')) ||
    headers.get('x-middleware-prefetch') === '1' ||
    headers.get('purpose')?.trim().toLowerCase() === 'prefetch' ||
    (headers.get('sec-purpose') ?? '').toLowerCase().includes('prefetch')
  )
}

/** A React Server Components request of Next's client-side router. */
export function isRsc(headers: Headers): boolean {
  return headers.get('rsc') === '1'
}

/** A Server Action called from hydrated code; a form posted without JavaScript looks like any navigation. */
export function isServerAction(headers: Headers, method: string): boolean {
  return method.toUpperCase() === 'POST' && headers.has('next-action')
}

/** Fetch Metadata of a browser that loads this as something else than a document or a frame. */
function isSubresource(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode')
  if (mode === null || mode === 'navigate') return false
  // Node's fetch sends the mode alone; a browser never does.
  return headers.has('sec-fetch-site') || headers.has('sec-fetch-dest')
}

/** A page of another site has made the browser send this. Without Fetch Metadata nobody can tell. */
export function isCrossSite(headers: Headers): boolean {
  return headers.get('sec-fetch-site') === 'cross-site'
}

/** Begun by a page of this origin, or by the user; a client without Fetch Metadata passes. */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none'
}

/** A router that fetches data says so itself, also where the browser sends no Fetch Metadata (plain http). */
function isRouterFetch(headers: Headers): boolean {
  return isRsc(headers) || headers.has('x-nextjs-data') || headers.has('next-action')
}

/**
 * Whether an answer may redirect the user to the provider. Prefetches are not told apart here: a prerender navigates.
 */
export function isNavigation(headers: Headers): boolean {
  return !isSubresource(headers) && !isRouterFetch(headers)
}

export function classify({ method, headers }: Classifiable): RequestKind {
  if (isPrefetch(headers)) return 'prefetch'
  if (isServerAction(headers, method)) return 'server-action'
  if (isRsc(headers)) return 'rsc'
  if (!isNavigation(headers)) return 'fetch'
  return headers.get('sec-fetch-mode') === 'navigate' ? 'navigation' : 'unknown'
}

interface Preference {
  readonly quality: number
  /** 2 the type itself, 1 a range of subtypes, 0 anything. */
  readonly precision: number
}

/** Returns the preference for one type (RFC 9110 section 12.5.1): the most specific range that covers it decides. */
function toPreference(ranges: ReadonlyMap<string, number>, type: string): Preference {
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

/** Whether `Accept` prefers JSON to HTML. At equal weight the type that is named beats the one that a wildcard covers. */
export function wantsJson(headers: Headers): boolean {
  const ranges = parseAccept(headers.get('accept') ?? '')
  const json = toPreference(ranges, 'application/json')
  const html = toPreference(ranges, 'text/html')
  if (json.quality !== html.quality) return json.quality > html.quality
  return json.quality > 0 && json.precision > html.precision
}
