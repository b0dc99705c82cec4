import { describe, expect, it } from 'vitest'
import {
  isCrossSiteDocument,
  isNavigation,
  isPrefetch,
  isRsc,
  isServerAction,
  wantsJson,
} from './request-kind.ts'

type RequestKind = 'navigation' | 'prefetch' | 'rsc' | 'server-action' | 'fetch' | 'unknown'

/** Returns the kind of a request by its headers; `unknown` counts as a navigation. */
function classify({ method, headers }: Pick<Request, 'method' | 'headers'>): RequestKind {
  if (isPrefetch(headers)) return 'prefetch'
  if (isServerAction(headers, method)) return 'server-action'
  if (isRsc(headers)) return 'rsc'
  if (!isNavigation(headers)) return 'fetch'
  return headers.get('sec-fetch-mode') === 'navigate' ? 'navigation' : 'unknown'
}

const page = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const document = {
  accept: page,
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}
const frame = { ...document, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe' }
const cors = {
  accept: '*/*',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
}
const tree = '%5B%22%22%2C%7B%22children%22%3A%5B%22__PAGE__%22%2C%7B%7D%5D%7D%2Cnull%2Cnull%2Ctrue%5D'
const rsc = { ...cors, rsc: '1', 'next-router-state-tree': tree, 'next-url': '/' }

interface Row {
  name: string
  kind: RequestKind
  headers: Record<string, string>
  method?: string
}

const rows: readonly Row[] = [
  { name: 'document typed into the address bar', kind: 'navigation', headers: document },
  {
    name: 'link from another site',
    kind: 'navigation',
    headers: { ...document, 'sec-fetch-site': 'cross-site' },
  },
  {
    name: 'form post',
    kind: 'navigation',
    method: 'POST',
    headers: { ...document, 'content-type': 'application/x-www-form-urlencoded' },
  },
  {
    name: 'cross-site form post of the provider',
    kind: 'navigation',
    method: 'POST',
    headers: { ...document, 'sec-fetch-site': 'cross-site', origin: 'https://op.example' },
  },
  { name: 'silent login in a frame', kind: 'navigation', headers: frame },
  { name: 'HEAD of a document', kind: 'navigation', method: 'HEAD', headers: document },

  { name: 'Next 14 link prefetch', kind: 'prefetch', headers: { ...rsc, 'next-router-prefetch': '1' } },
  {
    name: 'Next 15 segment prefetch',
    kind: 'prefetch',
    headers: { ...rsc, 'next-router-prefetch': '1', 'next-router-segment-prefetch': '/_tree' },
  },
  {
    name: 'Next 16 segment prefetch',
    kind: 'prefetch',
    headers: {
      ...cors,
      rsc: '1',
      'next-router-prefetch': '1',
      'next-router-segment-prefetch': '/dashboard/__PAGE__',
    },
  },
  { name: 'Next 16 runtime prefetch', kind: 'prefetch', headers: { ...rsc, 'next-router-prefetch': '2' } },
  {
    name: 'Next 16 static-stage prefetch',
    kind: 'prefetch',
    headers: { ...rsc, 'next-router-prefetch': '3' },
  },
  {
    name: 'segment header alone',
    kind: 'prefetch',
    headers: { ...rsc, 'next-router-segment-prefetch': '/_tree' },
  },
  {
    name: 'Pages Router data prefetch',
    kind: 'prefetch',
    headers: { ...cors, purpose: 'prefetch', 'x-nextjs-data': '1' },
  },
  {
    name: 'Pages Router prefetch with middleware',
    kind: 'prefetch',
    method: 'HEAD',
    headers: { ...cors, 'x-middleware-prefetch': '1', 'x-nextjs-data': '1' },
  },
  {
    name: 'link rel=prefetch',
    kind: 'prefetch',
    headers: {
      ...document,
      'sec-fetch-dest': 'empty',
      'sec-fetch-mode': 'no-cors',
      'sec-purpose': 'prefetch',
    },
  },
  {
    name: 'speculation rules prefetch',
    kind: 'prefetch',
    headers: { ...document, 'sec-purpose': 'prefetch' },
  },
  { name: 'prerender', kind: 'prefetch', headers: { ...document, 'sec-purpose': 'prefetch;prerender' } },
  {
    name: 'anonymised prefetch',
    kind: 'prefetch',
    headers: { ...document, 'sec-purpose': 'prefetch;anonymous-client-ip' },
  },
  {
    name: 'Turbo prefetch over plain http, without Fetch Metadata',
    kind: 'prefetch',
    headers: { accept: 'text/html, application/xhtml+xml', 'x-sec-purpose': 'prefetch' },
  },
  { name: 'older Chrome prefetch', kind: 'prefetch', headers: { accept: page, purpose: 'Prefetch' } },

  { name: 'RSC navigation', kind: 'rsc', headers: rsc },
  {
    name: 'RSC navigation over plain http, without Fetch Metadata',
    kind: 'rsc',
    headers: { accept: '*/*', rsc: '1', 'next-router-state-tree': tree },
  },
  {
    name: 'RSC with a prefetch header that says no',
    kind: 'rsc',
    headers: { ...rsc, 'next-router-prefetch': '0' },
  },
  { name: 'hot reload of Next', kind: 'rsc', headers: { ...rsc, 'next-hmr-refresh': '1' } },

  {
    name: 'Server Action',
    kind: 'server-action',
    method: 'POST',
    headers: { ...cors, accept: 'text/x-component', 'next-action': '7f0a', 'next-router-state-tree': tree },
  },
  {
    name: 'Server Action, method in lower case',
    kind: 'server-action',
    method: 'post',
    headers: { ...cors, 'next-action': '7f0a' },
  },

  { name: 'RSC navigation behind Next middleware, its headers removed', kind: 'fetch', headers: cors },
  { name: 'fetch of a page script', kind: 'fetch', headers: cors },
  { name: 'cross-origin fetch', kind: 'fetch', headers: { ...cors, 'sec-fetch-site': 'cross-site' } },
  {
    name: 'image',
    kind: 'fetch',
    headers: {
      accept: 'image/*',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    },
  },
  {
    name: 'fetch that tells only its site',
    kind: 'fetch',
    headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' },
  },
  {
    name: 'fetch that tells only its destination',
    kind: 'fetch',
    headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  },
  {
    name: 'script',
    kind: 'fetch',
    headers: {
      accept: '*/*',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'script',
    },
  },
  {
    name: 'web socket',
    kind: 'fetch',
    headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'websocket', 'sec-fetch-dest': 'empty' },
  },
  { name: 'Pages Router data', kind: 'fetch', headers: { accept: '*/*', 'x-nextjs-data': '1' } },
  { name: 'action header on a GET', kind: 'fetch', headers: { accept: '*/*', 'next-action': '7f0a' } },

  { name: 'curl', kind: 'unknown', headers: { accept: '*/*', 'user-agent': 'curl/8.5.0' } },
  {
    name: 'fetch of Node, which sends the mode alone',
    kind: 'unknown',
    headers: { accept: '*/*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' },
  },
  { name: 'browser without Fetch Metadata', kind: 'unknown', headers: { accept: page } },
  { name: 'nothing at all', kind: 'unknown', headers: {} },
]

describe('classify', () => {
  it.each(rows)('$name: $kind', ({ headers, kind, method = 'GET' }) => {
    expect(classify({ method, headers: new Headers(headers) })).toBe(kind)
  })

  it.each(rows)('agrees with the predicates: $name', ({ headers, kind, method = 'GET' }) => {
    const all = new Headers(headers)
    expect(isPrefetch(all)).toBe(kind === 'prefetch')
    if (kind === 'prefetch') return
    expect(isNavigation(all)).toBe(kind === 'navigation' || kind === 'unknown')
    expect(isRsc(all)).toBe(kind === 'rsc')
    expect(isServerAction(all, method)).toBe(kind === 'server-action')
  })
})

it.each([
  ['a document', 'document', 'navigate', true],
  ['a navigation that a service worker passes on', 'empty', 'navigate', true],
  ['a frame', 'iframe', 'navigate', false],
  ['a fetch', 'empty', 'cors', false],
])('isCrossSiteDocument: %s of another site', (_name, destination, mode, expected) => {
  const of = (site: string): boolean =>
    isCrossSiteDocument(
      new Headers({ 'sec-fetch-site': site, 'sec-fetch-dest': destination, 'sec-fetch-mode': mode }),
    )
  expect([of('cross-site'), of('same-site')]).toEqual([expected, false])
})

describe('isPrefetch', () => {
  it('accepts any value of the router header except an empty or negative one', () => {
    const of = (value: string): boolean => isPrefetch(new Headers({ 'next-router-prefetch': value }))
    expect(['1', '2', '3', 'true', 'yes', '4'].map(of)).toEqual(Array(6).fill(true))
    expect(['', '0', 'false', 'False', ' 0 '].map(of)).toEqual(Array(5).fill(false))
  })

  it('ignores other purposes', () => {
    expect(isPrefetch(new Headers({ purpose: 'preview' }))).toBe(false)
    expect(isPrefetch(new Headers({ 'x-middleware-prefetch': '0' }))).toBe(false)
    expect(isPrefetch(new Headers({ 'sec-purpose': '' }))).toBe(false)
  })
})

describe('wantsJson', () => {
  it.each([
    ['application/json', true],
    ['application/json, text/plain, */*', true],
    ['application/json;q=0.9, text/html;q=0.5', true],
    ['text/html;q=0.2, application/*;q=0.8', true],
    ['APPLICATION/JSON', true],
    ['application/json, text/html;q=0', true],
    [page, false],
    ['*/*', false],
    ['', false],
    ['text/html, application/json', false],
    ['application/json;q=0.5, text/html', false],
    ['application/json;q=0', false],
    ['application/json;q=0, */*', false],
    ['application/json;q=nonsense', false],
    ['application/json;q=7', false],
    ['image/png', false],
    ['text/x-component', false],
    [',;,;q=1,', false],
  ])('%j: %s', (accept, expected) => {
    expect(wantsJson(new Headers({ accept }))).toBe(expected)
  })

  it('is false without the header', () => {
    expect(wantsJson(new Headers())).toBe(false)
  })
})
