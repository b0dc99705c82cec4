import { utf8 } from '../../lib/utf8.ts'
import { Browser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { getProxyPath, getUpstream, own, ProxiedPage, sha256 } from './proxied-page.ts'
import { claimSignedIn } from './response-claims.ts'

/** A path and a query with every character that URLs leave as it is. */
const REST = "/a%20b/%C3%A9;v=1,2/~$&+=:@!*()?a+b&c=%7e%2F%2f..%2F&d[]=1&e==&&;f&%00&g='"

/** A body that was read before is an error of ours, never an empty body. */
async function claimConsumed(page: ProxiedPage, init: RequestInit): Promise<void> {
  const response = await page.fetch(REST, init)
  const { code } = (await response.json()) as Record<string, unknown>
  claimEqual([response.status, code], [500, 'PROXY_BODY_CONSUMED'], `${init.method} behind a body parser`)
}

async function claimSentOn(page: ProxiedPage, method: string, type = 'text/plain', body = ''): Promise<void> {
  const { pathname, search } = new URL(REST, 'http://localhost')
  const target = page.toComparable(page.target(pathname + search))
  const bytes = utf8(body)
  const headers = { 'content-type': type, 'idempotency-key': method }
  const before = page.received().length
  const response = await page.fetch(REST, { method, headers, ...(body && { body }) })
  const text = await response.text()
  claimEqual(response.status, 200, `the status of ${method} (${text.slice(0, 100)})`)
  claimEqual(page.received().length, before + 1, 'the requests that the API receives')
  const record = page.received().at(-1)
  claim(record !== undefined, `the API receives ${method}`)
  claimEqual([record.method, page.toComparable(record.target)], [method, target], 'the request')
  claimEqual(record.header('idempotency-key'), method, 'a header that passes')
  claimEqual([record.bodyBytes, record.sha256], [bytes.length, await sha256(bytes)], `the body of ${method}`)
  page.claimClean(record)
  if (method === 'HEAD') claimEqual(text, '', 'the body of the response to HEAD')
  else claimEqual((JSON.parse(text) as Record<string, unknown>)['target'], record.target, 'the response')
}

const BOUNDARY = 'b'

/** A file as forms send it. */
const FORM = [
  `--${BOUNDARY}`,
  'content-disposition: form-data; name="file"; filename="a.txt"',
  '',
  'Grüße',
  `--${BOUNDARY}--`,
  '',
].join('\r\n')

/** Bodies that parsers read, and one that none does. */
const BODIES = {
  'application/json': JSON.stringify({ text: 'Grüße' }),
  'application/x-www-form-urlencoded': 'a=1&a=2',
  [`multipart/form-data; boundary=${BOUNDARY}`]: FORM,
  'application/octet-stream': '\0\x01',
} as const

/** Media types that the body parsers of frameworks read by default. */
const PARSED: readonly string[] = ['application/json', 'application/x-www-form-urlencoded']

const PASSED = {
  'content-type': 'application/problem+json',
  'content-language': 'en',
  'content-disposition': 'attachment; filename="a.json"',
  etag: '"v1"',
  'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
  'retry-after': '5',
  link: '<https://example.test/next>; rel="next"',
  'ratelimit-limit': '10',
  'x-request-id': 'r1',
  deprecation: '@1688169599',
  sunset: 'Thu, 01 Jan 2026 00:00:00 GMT',
} as const

const DROPPED = { 'x-other': 'secret', server: 'upstream', 'x-powered-by': 'upstream', age: '5' } as const

const ADDED = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
} as const

/** How many requests are sent at once. */
const MANY = 50

/** Cases for an application that has a proxy. */
export const proxy: ContractRuns = {
  'the proxy sends every method on with path, query, body and token, and without credentials of the browser':
    async (host) => {
      const page = await ProxiedPage.open(host)
      for (const method of ['GET', 'HEAD', 'DELETE']) await claimSentOn(page, method)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        for (const [type, body] of Object.entries(BODIES)) {
          const headers = { 'content-type': type }
          if (host.proxyLimits?.parsesBodies && PARSED.includes(type))
            await claimConsumed(page, { method, body, headers })
          else await claimSentOn(page, method, type, body)
        }
    },

  'the proxy responds 401 as JSON without a session, and sends nothing': async (host) => {
    const { origin } = new URL(host.url)
    const id = crypto.randomUUID()
    for (const method of ['GET', 'POST']) {
      const response = await new Browser(host).send(`${getProxyPath(host)}/${id}`, {
        method,
        headers: { ...own, origin },
      })
      claimEqual(response.status, 401, `the status of ${method}`)
      const { code } = JSON.parse(response.text) as Record<string, unknown>
      claimEqual(code, 'NOT_AUTHENTICATED', `the code of ${method}`)
      claimEqual(response.headers.get('idp-client-error'), '1', 'the mark of our own failures')
      claim(/no-store/.test(response.headers.get('cache-control') ?? ''), 'the failure is not stored')
    }
    const sent = getUpstream(host).requests.filter(({ target }) => target.includes(id))
    claimEqual(sent.length, 0, 'the requests that the API receives')
  },

  'the proxy passes status, body and allowed headers of responses on, and adds its policies': async (
    host,
  ) => {
    const page = await ProxiedPage.open(host)
    const headers = [...Object.entries(PASSED), ...Object.entries(DROPPED)]
    for (const status of [200, 201, 400, 403, 404, 409, 422, 429, 500, 503]) {
      const remove = page.respond({ kind: 'respond', status, headers, body: '{"own":true}' })
      for (const method of ['GET', 'HEAD']) {
        const response = await page.fetch('', { method })
        const what = `${method} with ${status}`
        claimEqual(response.status, status, `the status of ${what}`)
        claimEqual(await response.text(), method === 'HEAD' ? '' : '{"own":true}', `the body of ${what}`)
        for (const [name, value] of Object.entries({ ...PASSED, ...ADDED }))
          claimEqual(response.headers.get(name), value, `${name} of ${what}`)
        for (const [name, value] of Object.entries(DROPPED))
          claim(response.headers.get(name) !== value, `${name} of the API does not pass (${what})`)
        const cache = response.headers.get('cache-control') ?? ''
        claim(/private/.test(cache) && /no-store/.test(cache), `${what} is not cacheable (${cache})`)
        claimEqual(response.headers.get('idp-client-error'), null, `the mark of failures at ${what}`)
      }
      remove()
    }
  },

  'conditional and partial requests reach the API, and 304 and 206 the browser': async (host) => {
    const page = await ProxiedPage.open(host)
    const removeFirst = page.respond({ kind: 'respond', status: 304, headers: [['ETag', '"v1"']] })
    const unchanged = await page.fetch('', { headers: { 'if-none-match': '"v1"' } })
    claimEqual([unchanged.status, await unchanged.text()], [304, ''], 'an unchanged resource')
    removeFirst()
    const headers = [['Content-Range', 'bytes 0-3/9']] as const
    page.respond({ kind: 'respond', status: 206, headers, body: 'part' })
    const part = await page.fetch('', { headers: { range: 'bytes=0-3' } })
    claimEqual([part.status, await part.text()], [206, 'part'], 'a part')
    claimEqual(part.headers.get('content-range'), 'bytes 0-3/9', 'the range of the part')
    const sent = page.received().map((request) => [request.header('if-none-match'), request.header('range')])
    claimEqual(
      sent,
      [
        ['"v1"', undefined],
        [undefined, 'bytes=0-3'],
      ],
      'the headers that the API receives',
    )
  },

  'a token that the API refuses is refreshed once, however many requests have it': async (host) => {
    const page = await ProxiedPage.open(host)
    page.respond({ kind: 'invalidToken' }, ({ token }) => token === page.token)
    const responses = await Promise.all(
      Array.from({ length: MANY }, async (_, index) => {
        const body = JSON.stringify({ index })
        const headers = { 'content-type': 'application/octet-stream' }
        const isRead = index % 2 === 0
        const response = await page.fetch(`/${index}`, isRead ? {} : { method: 'POST', body, headers })
        return [response.status, await response.text()] as const
      }),
    )
    const failed = responses.filter(([status]) => status !== 200)
    claimEqual(failed, [], 'the responses that failed')
    const later = page.received().filter(({ token }) => token !== page.token)
    claimEqual(later.length, MANY, 'the requests with another token')
    claimEqual(new Set(later.map(({ token }) => token)).size, 1, 'the tokens after the refresh')
    const bodies = later.filter(({ method }) => method === 'POST').every(({ bodyBytes }) => bodyBytes > 0)
    claim(bodies, 'repeated requests have their bodies')
    await claimSignedIn(page.browser, 'alice', 'after the refresh')
  },
}
