import { claim, claimEqual } from '../claim.ts'
import type { RawResponse } from '../raw-request.ts'
import type { InwardPlace, OutwardPlace, ProxiedOddity, ProxiedPlace, ProxiedResponse } from '../upstream.ts'
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
  /** Default: the kind of the response. */
  readonly title?: string
  readonly statuses?: readonly number[]
  /** The whole body, if there is a response. */
  readonly body?: string
  readonly check?: (response: RawResponse) => void
}

/** A response that passes without what is dangerous in it. */
const passed = (
  response: ProxiedResponse,
  { body, check, statuses = [200], title = response.kind }: Rules = {},
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

/** A response whose body must arrive. */
const whole = (response: ProxiedResponse, rules: Rules = {}): ProxyAttack =>
  passed(response, {
    ...rules,
    check(raw) {
      claim(raw.isComplete, 'the response is complete')
      rules.check?.(raw)
    },
  })

/** A response that breaks HTTP: the clients of some runtimes repair it, others reject it. It never adds anything. */
const malformed = (response: ProxiedResponse, rules: Rules = {}): ProxyAttack =>
  passed(response, { statuses: [0, 200, 502], body: BODY, ...rules })

const contents: readonly ProxyAttack[] = [
  whole({ kind: 'html' }, { check: ({ body }) => claim(body.includes('<script>'), 'it arrives as data') }),
  whole({ kind: 'svg' }),
  whole({ kind: 'serviceWorker' }),
  ...(['setCookie', 'serverDirectives', 'clearSiteData', 'cors', 'connectionNamed'] as const).map((kind) =>
    whole({ kind }, { body: BODY }),
  ),
  whole(
    { kind: 'policies' },
    { body: BODY, check: (raw) => claim(!valuesOf(raw, 'vary').includes('*'), 'Vary') },
  ),
  ...(['lookalike', 'unauthorized', 'basicChallenge'] as const).map((kind) =>
    whole({ kind }, { statuses: [401] }),
  ),
  // The fetch of some runtimes decompresses it.
  passed(
    { kind: 'gzip' },
    { check: (raw) => claimEqual(valuesOf(raw, 'content-encoding'), [], 'Content-Encoding') },
  ),
]

const MALFORMED = [
  'falseGzip', 'lengthAndChunked', 'twoLengths', 'obsFold', 'trailers', 'switchingProtocols', 'surplus',
  'badStatusLine', 'hugeHead',
] as const // biome-ignore format: a list

const framing: readonly ProxyAttack[] = [
  ...MALFORMED.map((kind) => malformed({ kind })),
  passed({ kind: 'gzipChunked' }, { statuses: [0, 200, 502] }),
  passed(
    { kind: 'badChunk' },
    {
      statuses: [0, 200, 502],
      check: ({ isComplete }) => claim(!isComplete, 'it never looks complete'),
    },
  ),
  ...([100, 102, 103] as const).map((status) =>
    passed(
      { kind: 'informational', status },
      {
        title: `with an interim ${status}`,
        statuses: [200, 502],
        body: BODY,
        check: (raw) => claimEqual(valuesOf(raw, 'link'), [], 'links of the interim response'),
      },
    ),
  ),
  ...([204, 205, 304] as const).map((status) =>
    passed(
      { kind: 'bodyless', status },
      { title: `${status} with a body`, statuses: [status, 502], body: '' },
    ),
  ),
]

const ODDITIES = [
  'latin1', 'utf8', 'control', 'nul', 'bareCr', 'bareLf', 'spaceBeforeColon', 'noColon', 'emptyName', 'nonToken',
] as const satisfies readonly ProxiedOddity[] // biome-ignore format: a list

const INWARD: readonly InwardPlace[] = ['relative', 'query', 'path', 'url', 'hostRelative', 'root']

const OUTWARD = [
  'otherHost', 'otherHostRelative', 'otherPort', 'otherScheme', 'userinfo', 'above', 'beside', 'dots', 'encodedDots',
  'twiceEncodedDots', 'encodedSlash', 'backslashes', 'slashBackslash', 'tab', 'javascript', 'invalid',
] as const satisfies readonly OutwardPlace[] // biome-ignore format: a list

/** The path that the browser gets: below the prefix. */
const NEXT = /^(?:\/[\w-]+)*\/proxied\/next\?page=2$/
const otherPaths: Readonly<Partial<Record<InwardPlace, RegExp>>> = {
  query: /^(?:\/[\w-]+)*\/proxied\/page-[\w-]+\?page=2$/,
  root: /^(?:\/[\w-]+)*\/proxied$/,
}

type AddressHeader = 'location' | 'content-location'

const redirect = (to: ProxiedPlace, header: AddressHeader): ProxiedResponse => ({
  kind: 'redirect',
  to,
  ...(header === 'location' ? {} : { header }),
})

const inward = (to: InwardPlace, header: AddressHeader): ProxyAttack =>
  passed(redirect(to, header), {
    title: `with ${header} inward: ${to}`,
    statuses: [header === 'location' ? 302 : 200],
    check(raw) {
      const [value = ''] = valuesOf(raw, header)
      claim((otherPaths[to] ?? NEXT).test(value), `the address is below the prefix: ${value}`)
    },
  })

const outward = (to: OutwardPlace, header: AddressHeader): ProxyAttack => ({
  title: `the response with ${header} outward: ${to}`,
  response: redirect(to, header),
  statuses: [502],
  code: 'PROXY_REDIRECT_REFUSED',
  sent: [1],
  check({ headers }) {
    const addresses = headers.filter(([name]) => /^(?:content-)?location$/.test(name))
    claimEqual(addresses, [], 'addresses')
  },
})

/** Attacks by responses of the API. */
export const responses: readonly ProxyAttack[] = [
  ...contents,
  ...framing,
  ...ODDITIES.map((of) => malformed({ kind: 'oddHeader', of }, { title: `with an odd header: ${of}` })),
]

/** Attacks by addresses in responses. */
export const addresses: readonly ProxyAttack[] = (['location', 'content-location'] as const).flatMap(
  (header) => [...INWARD.map((to) => inward(to, header)), ...OUTWARD.map((to) => outward(to, header))],
)
