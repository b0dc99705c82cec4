import { claim, claimEqual } from '../claim.ts'
import type { RawResponse } from '../raw-request.ts'
import type { InwardPlace, OutwardPlace, PlainResponse, ProxiedOddity, ProxiedResponse } from '../upstream.ts'
import type { ProxyAttack } from './attack.ts'
import { valuesOf } from './attack.ts'

const BODY = '{"ok":true}'

/** Headers that no response has, whatever the API says. */
const NEVER =
  /^(?:x-accel-|x-sendfile|x-middleware-|clear-site-data|service-worker-allowed|access-control-|refresh|www-authenticate|x-named|x-trailer|x-folded|x-huge|dpop-nonce|idp-client-error)/

function claimPolicies(response: RawResponse): void {
  claimEqual(valuesOf(response, 'content-security-policy'), ["sandbox; default-src 'none'"], 'the policy')
  claimEqual(valuesOf(response, 'x-content-type-options'), ['nosniff'], 'X-Content-Type-Options')
  claimEqual(
    valuesOf(response, 'cross-origin-resource-policy'),
    ['same-origin'],
    'the policy of the resource',
  )
  const cache = valuesOf(response, 'cache-control').join()
  claim(/private/.test(cache) && /no-store/.test(cache) && !/public/.test(cache), `the cache gets ${cache}`)
  const orders = response.headers.map(([name]) => name).filter((name) => NEVER.test(name))
  claimEqual(orders, [], 'headers that never pass')
}

interface Rules {
  readonly statuses?: readonly number[]
  /** The whole body, if there is a response. */
  readonly body?: string
  readonly check?: (response: RawResponse) => void
}

/** A response that passes without what is dangerous in it. */
const passed = (
  title: string,
  response: ProxiedResponse,
  { body, check, statuses = [200] }: Rules = {},
): ProxyAttack => ({
  title: `the response ${title}`,
  response,
  statuses,
  sent: [1],
  check(raw) {
    if (raw.status === 0 || raw.status === 502) return
    claimPolicies(raw)
    if (body !== undefined && raw.isComplete) claimEqual(raw.body, body, 'the body')
    check?.(raw)
  },
})

/** A kind of response whose body must arrive. */
const whole = (response: PlainResponse, rules: Rules = {}): ProxyAttack =>
  passed(response.kind, response, {
    ...rules,
    check(raw) {
      claim(raw.isComplete, 'the response is complete')
      rules.check?.(raw)
    },
  })

/** A response that breaks HTTP: the clients of some runtimes repair it, others reject it. It never adds anything. */
const malformed = (title: string, response: ProxiedResponse, body = BODY): ProxyAttack =>
  passed(title, response, { statuses: [0, 200, 502], body })

const refusedByUs = (title: string, response: ProxiedResponse, code: string): ProxyAttack => ({
  title: `the response ${title}`,
  response,
  statuses: [502],
  code,
  sent: [1],
  check: ({ headers }) =>
    claimEqual(
      headers.some(([name]) => /^(?:content-)?location$/.test(name)),
      false,
      'an address',
    ),
})

const contents: readonly ProxyAttack[] = [
  whole({ kind: 'html' }, { check: ({ body }) => claim(body.includes('<script>'), 'it arrives as data') }),
  whole({ kind: 'svg' }),
  whole({ kind: 'setCookie' }, { body: BODY }),
  whole({ kind: 'serverDirectives' }, { body: BODY }),
  whole({ kind: 'clearSiteData' }, { body: BODY }),
  whole({ kind: 'serviceWorker' }),
  whole({ kind: 'cors' }, { body: BODY }),
  whole(
    { kind: 'policies' },
    { body: BODY, check: (raw) => claim(!valuesOf(raw, 'vary').includes('*'), 'Vary') },
  ),
  whole({ kind: 'lookalike' }, { statuses: [401] }),
  whole({ kind: 'unauthorized' }, { statuses: [401] }),
  whole({ kind: 'basicChallenge' }, { statuses: [401] }),
  whole({ kind: 'connectionNamed' }, { body: BODY }),
  // The fetch of some runtimes decompresses it.
  passed('gzip', { kind: 'gzip' }, { check: claimNoFalseEncoding }),
  malformed('falseGzip', { kind: 'falseGzip' }),
]

function claimNoFalseEncoding(raw: RawResponse): void {
  claimEqual(valuesOf(raw, 'content-encoding'), [], 'Content-Encoding')
}

const framing: readonly ProxyAttack[] = [
  malformed('lengthAndChunked', { kind: 'lengthAndChunked' }),
  passed('gzipChunked', { kind: 'gzipChunked' }, { statuses: [0, 200, 502] }),
  malformed('twoLengths', { kind: 'twoLengths' }),
  passed(
    'badChunk',
    { kind: 'badChunk' },
    {
      statuses: [0, 200, 502],
      check: ({ isComplete }) => claim(!isComplete, 'it never looks complete'),
    },
  ),
  malformed('obsFold', { kind: 'obsFold' }),
  malformed('trailers', { kind: 'trailers' }),
  malformed('switchingProtocols', { kind: 'switchingProtocols' }),
  malformed('surplus', { kind: 'surplus' }),
  malformed('badStatusLine', { kind: 'badStatusLine' }),
  malformed('hugeHead', { kind: 'hugeHead' }),
  ...([100, 102, 103] as const).map((status) =>
    passed(
      `with an interim ${status}`,
      { kind: 'informational', status },
      {
        statuses: [200, 502],
        body: BODY,
        check: (raw) => claimEqual(valuesOf(raw, 'link'), [], 'links of the interim response'),
      },
    ),
  ),
  ...([204, 205, 304] as const).map((status) =>
    passed(`${status} with a body`, { kind: 'bodyless', status }, { statuses: [status, 502], body: '' }),
  ),
]

const ODDITIES = [
  'latin1', 'utf8', 'control', 'nul', 'bareCr', 'bareLf', 'spaceBeforeColon', 'noColon', 'emptyName', 'nonToken',
] as const satisfies readonly ProxiedOddity[] // biome-ignore format: a list

const INWARD = [
  'relative',
  'query',
  'path',
  'url',
  'hostRelative',
  'root',
] as const satisfies readonly InwardPlace[]

const OUTWARD = [
  'otherHost', 'otherHostRelative', 'otherPort', 'otherScheme', 'userinfo', 'above', 'beside', 'dots', 'encodedDots',
  'twiceEncodedDots', 'encodedSlash', 'backslashes', 'slashBackslash', 'tab', 'javascript', 'invalid',
] as const satisfies readonly OutwardPlace[] // biome-ignore format: a list

/** The path that the browser gets for each place: below the prefix. */
const rewritten: Readonly<Record<InwardPlace, RegExp>> = {
  relative: /^(?:\/[\w-]+)*\/proxied\/next\?page=2$/,
  query: /^(?:\/[\w-]+)*\/proxied\/page-[\w-]+\?page=2$/,
  path: /^(?:\/[\w-]+)*\/proxied\/next\?page=2$/,
  url: /^(?:\/[\w-]+)*\/proxied\/next\?page=2$/,
  hostRelative: /^(?:\/[\w-]+)*\/proxied\/next\?page=2$/,
  root: /^(?:\/[\w-]+)*\/proxied$/,
}

const inward = (to: InwardPlace, header: 'location' | 'content-location'): ProxyAttack =>
  passed(
    `with ${header} inward: ${to}`,
    { kind: 'redirect', to, ...(header === 'location' ? {} : { header }) },
    {
      statuses: [header === 'location' ? 302 : 200],
      check(raw) {
        const [value = ''] = valuesOf(raw, header)
        claim(rewritten[to].test(value), `the address is below the prefix: ${value}`)
      },
    },
  )

const redirects: readonly ProxyAttack[] = [
  ...INWARD.flatMap((to) => [inward(to, 'location'), inward(to, 'content-location')]),
  ...OUTWARD.flatMap((to) => [
    outward(`with Location outward: ${to}`, { kind: 'redirect', to }),
    outward(`with Content-Location outward: ${to}`, { kind: 'redirect', to, header: 'content-location' }),
  ]),
]

function outward(title: string, response: ProxiedResponse): ProxyAttack {
  return refusedByUs(title, response, 'PROXY_REDIRECT_REFUSED')
}

/** Attacks by responses of the API. */
export const responses: readonly ProxyAttack[] = [
  ...contents,
  ...framing,
  ...ODDITIES.map((of) => malformed(`with an odd header: ${of}`, { kind: 'oddHeader', of })),
]

/** Attacks by addresses in responses. */
export const addresses: readonly ProxyAttack[] = redirects
