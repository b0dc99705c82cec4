import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RedirectPlace, Upstream, UpstreamResponse } from '../../src/index.ts'
import { startUpstream } from '../../src/index.ts'
import { exchange } from './raw-client.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.close())

const OK = 'HTTP/1.1 200 OK\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const LENGTH = 'Content-Length: 11\r\n'
const BODY = '\r\n{"ok":true}'
const GZIPPED = gzipSync('{"ok":true}').toString('latin1')
const SMUGGLED = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled'
const unauthorized = `HTTP/1.1 401 Unauthorized\r\n${JSON_TYPE}`

/** The JSON response with these lines in its head. */
const json = (lines: string): string => `${OK}${JSON_TYPE}${lines}${LENGTH}${BODY}`

const withLength = (head: string, body: string): string =>
  `${head}Content-Length: ${body.length}\r\n\r\n${body}`

/** Tested in `streams.test.ts`. */
const streamed = ['events', 'silent', 'stall', 'cut', 'big', 'closeDelimited'] as const

type Kind = Exclude<UpstreamResponse['kind'], (typeof streamed)[number]>
type Response<K extends Kind> = Extract<UpstreamResponse, { readonly kind: K }>

/** Every byte of the responses of each kind. */
const cases: { [K in Kind]: readonly (readonly [response: Response<K>, bytes: string])[] } = {
  respond: [
    [{ kind: 'respond' }, `${OK}Content-Length: 0\r\n\r\n`],
    [
      {
        kind: 'respond',
        status: 999,
        headers: [
          ['x-A', ' é'],
          ['x-a', 'b\r\nx-c: d'],
        ],
        body: 'é',
      },
      'HTTP/1.1 999 Unknown\r\nx-A:  \xe9\r\nx-a: b\r\nx-c: d\r\nContent-Length: 2\r\n\r\n\xc3\xa9',
    ],
    [{ kind: 'respond', status: 204, body: 'left out' }, 'HTTP/1.1 204 No Content\r\n\r\n'],
    [{ kind: 'respond', body: Uint8Array.of(0, 255) }, `${OK}Content-Length: 2\r\n\r\n\0\xff`],
  ],
  echo: [
    [
      { kind: 'echo' },
      withLength(
        `${OK}${JSON_TYPE}`,
        `{"method":"GET","target":"/v1/orders","bytes":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`,
      ),
    ],
  ],
  html: [
    [
      { kind: 'html' },
      withLength(
        `${OK}Content-Type: text/html; charset=utf-8\r\n`,
        `<!doctype html><title>Upstream</title><script>document.documentElement.dataset.script = 'ran'</script>`,
      ),
    ],
  ],
  svg: [
    [
      { kind: 'svg' },
      withLength(
        `${OK}Content-Type: image/svg+xml\r\n`,
        `<svg xmlns="http://www.w3.org/2000/svg"><script>document.documentElement.dataset.script = 'ran'</script></svg>`,
      ),
    ],
  ],
  setCookie: [
    [
      { kind: 'setCookie' },
      json(
        'Set-Cookie: plain=1\r\nSet-Cookie: session=2; Path=/; HttpOnly\r\nSet-Cookie: __Host-session=3; Path=/; Secure\r\n',
      ),
    ],
  ],
  serverDirectives: [
    [
      { kind: 'serverDirectives' },
      json(
        'X-Accel-Redirect: /internal/file\r\nX-Accel-Buffering: yes\r\nX-Accel-Expires: 3600\r\nX-Sendfile: /etc/passwd\r\nX-Middleware-Rewrite: http://other.example/\r\nX-Middleware-Next: 1\r\n',
      ),
    ],
  ],
  clearSiteData: [[{ kind: 'clearSiteData' }, json('Clear-Site-Data: "cookies", "storage"\r\n')]],
  serviceWorker: [
    [
      { kind: 'serviceWorker' },
      withLength(
        `${OK}Content-Type: text/javascript\r\nService-Worker-Allowed: /\r\n`,
        `self.addEventListener('fetch', (event) => event.respondWith(new Response('taken over')))`,
      ),
    ],
  ],
  cors: [
    [
      { kind: 'cors' },
      json(
        'Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\nAccess-Control-Allow-Methods: *\r\nAccess-Control-Allow-Headers: *\r\nAccess-Control-Expose-Headers: *\r\n',
      ),
    ],
  ],
  policies: [
    [
      { kind: 'policies' },
      json(
        'Cache-Control: public, max-age=3600\r\nContent-Security-Policy: default-src * data: blob:\r\nCross-Origin-Resource-Policy: cross-origin\r\nX-Content-Type-Options: off\r\nVary: *\r\nRefresh: 0; url=http://other.example/\r\n',
      ),
    ],
  ],
  lookalike: [
    [
      { kind: 'lookalike' },
      `${unauthorized}idp-client-error: 1\r\nContent-Length: 26\r\n\r\n{"code":"MISSING_SESSION"}`,
    ],
  ],
  unauthorized: [[{ kind: 'unauthorized' }, `${unauthorized}${LENGTH}${BODY}`]],
  basicChallenge: [
    [
      { kind: 'basicChallenge' },
      `${unauthorized}WWW-Authenticate: Basic realm="upstream"\r\n${LENGTH}${BODY}`,
    ],
  ],
  invalidToken: [
    [
      { kind: 'invalidToken' },
      `${unauthorized}WWW-Authenticate: Bearer realm="upstream", error="invalid_token"\r\n${LENGTH}${BODY}`,
    ],
  ],
  useDpopNonce: [
    [
      { kind: 'useDpopNonce' },
      `${unauthorized}WWW-Authenticate: DPoP algs="ES256", error="use_dpop_nonce"\r\nDPoP-Nonce: upstream-nonce\r\n${LENGTH}${BODY}`,
    ],
    [
      { kind: 'useDpopNonce', nonce: 'n-2' },
      `${unauthorized}WWW-Authenticate: DPoP algs="ES256", error="use_dpop_nonce"\r\nDPoP-Nonce: n-2\r\n${LENGTH}${BODY}`,
    ],
  ],
  dpopNonce: [
    [{ kind: 'dpopNonce' }, json('DPoP-Nonce: upstream-nonce\r\n')],
    [{ kind: 'dpopNonce', nonce: 'n-2' }, json('DPoP-Nonce: n-2\r\n')],
  ],
  gzip: [
    [
      { kind: 'gzip' },
      `${OK}${JSON_TYPE}Content-Encoding: gzip\r\nContent-Length: ${GZIPPED.length}\r\n\r\n${GZIPPED}`,
    ],
  ],
  falseGzip: [[{ kind: 'falseGzip' }, json('Content-Encoding: gzip\r\n')]],
  connectionNamed: [[{ kind: 'connectionNamed' }, json('Connection: x-named\r\nX-Named: secret\r\n')]],
  redirect: [
    [
      { kind: 'redirect', location: '/anywhere' },
      `HTTP/1.1 302 Found\r\n${JSON_TYPE}Location: /anywhere\r\n${LENGTH}${BODY}`,
    ],
    [
      { kind: 'redirect', to: 'query', status: 308 },
      `HTTP/1.1 308 Permanent Redirect\r\n${JSON_TYPE}Location: ?page=2\r\n${LENGTH}${BODY}`,
    ],
    [{ kind: 'redirect', to: 'query', header: 'content-location' }, json('Content-Location: ?page=2\r\n')],
    [
      { kind: 'redirect', to: 'query', header: 'both' },
      `HTTP/1.1 302 Found\r\n${JSON_TYPE}Location: ?page=2\r\nContent-Location: ?page=2\r\n${LENGTH}${BODY}`,
    ],
  ],
  raw: [
    [{ kind: 'raw', bytes: 'no HTTP\xff' }, 'no HTTP\xff'],
    [{ kind: 'raw', bytes: Uint8Array.of(1, 254) }, '\x01\xfe'],
  ],
  lengthAndChunked: [
    [
      { kind: 'lengthAndChunked' },
      `${OK}${JSON_TYPE}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{"ok":true}\r\n0\r\n\r\n`,
    ],
  ],
  gzipChunked: [
    [
      { kind: 'gzipChunked' },
      `${OK}${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n\r\n${GZIPPED.length.toString(16)}\r\n${GZIPPED}\r\n0\r\n\r\n`,
    ],
  ],
  twoLengths: [
    [{ kind: 'twoLengths' }, `${OK}${JSON_TYPE}Content-Length: 11\r\nContent-Length: 3\r\n${BODY}`],
  ],
  badChunk: [
    [
      { kind: 'badChunk' },
      `${OK}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{"ok":true}\r\n0\r\n\r\n`,
    ],
  ],
  obsFold: [[{ kind: 'obsFold' }, `${OK}X-Folded: first\r\n second\r\n${LENGTH}${BODY}`]],
  trailers: [
    [
      { kind: 'trailers' },
      `${OK}${JSON_TYPE}Transfer-Encoding: chunked\r\nTrailer: Set-Cookie, X-Trailer\r\n\r\nb\r\n{"ok":true}\r\n0\r\nSet-Cookie: trailer=1\r\nX-Trailer: secret\r\n\r\n`,
    ],
  ],
  informational: (
    [
      [100, 'Continue'],
      [102, 'Processing'],
      [103, 'Early Hints'],
    ] as const
  ).map(([status, reason]) => [
    { kind: 'informational', status },
    `HTTP/1.1 ${status} ${reason}\r\nLink: </style.css>; rel=preload; as=style\r\nSet-Cookie: interim=1\r\n\r\n${json('')}`,
  ]),
  switchingProtocols: [
    [
      { kind: 'switchingProtocols' },
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nother',
    ],
  ],
  bodyless: (
    [
      [204, 'No Content'],
      [205, 'Reset Content'],
      [304, 'Not Modified'],
    ] as const
  ).map(([status, reason]) => [
    { kind: 'bodyless', status },
    `HTTP/1.1 ${status} ${reason}\r\n${JSON_TYPE}Content-Length: 46\r\n\r\n${SMUGGLED}`,
  ]),
  surplus: [[{ kind: 'surplus' }, `${json('')}${SMUGGLED}`]],
  badStatusLine: [
    [{ kind: 'badStatusLine' }, `HTTP/1.1 abc OK\r\n${JSON_TYPE}${LENGTH}${BODY}`],
    [{ kind: 'badStatusLine', line: 'HTTP/9.9 200 OK' }, `HTTP/9.9 200 OK\r\n${JSON_TYPE}${LENGTH}${BODY}`],
  ],
  hugeHead: [
    [{ kind: 'hugeHead' }, `${OK}X-Huge: ${'h'.repeat(1_048_576)}\r\n${LENGTH}${BODY}`],
    [{ kind: 'hugeHead', bytes: 3 }, `${OK}X-Huge: hhh\r\n${LENGTH}${BODY}`],
  ],
  oddHeader: (
    [
      ['latin1', 'ETag: caf\xe9'],
      ['utf8', 'ETag: caf\xc3\xa9 \xe2\x82\xac'],
      ['control', 'ETag: a\x01b'],
      ['nul', 'ETag: a\0b'],
      ['bareCr', 'ETag: a\rX-Injected: 1'],
      ['bareLf', 'ETag: a\nX-Injected: 1'],
      ['spaceBeforeColon', 'ETag : a'],
      ['noColon', 'ETag'],
      ['emptyName', ': a'],
      ['nonToken', '{ETag}: a'],
    ] as const
  ).map(([of, line]) => [{ kind: 'oddHeader', of, name: 'ETag' }, `${OK}${line}\r\n${LENGTH}${BODY}`]),
}

/** A response as the name of a test. */
const toTitle = (response: UpstreamResponse): string => JSON.stringify(response).slice(0, 90)

describe('every byte of a response', () => {
  const all = Object.values(cases).flat()
  test.each(all.map(([response, bytes]) => ({ title: toTitle(response), response, bytes })))(
    '$title',
    async ({ response, bytes }) => {
      upstream.respond(response)
      const received = await exchange(upstream.url)
      // A comparison of strings of 1 MiB would print both.
      expect(received.length).toBe(bytes.length)
      expect(received === bytes || received).toBe(true)
    },
  )

  test('the name of an odd header is Content-Disposition by default', async () => {
    upstream.respond({ kind: 'oddHeader', of: 'nul' })
    expect(await exchange(upstream.url)).toContain('\r\nContent-Disposition: a\0b\r\n')
  })

  test('a response to HEAD has no body, unless that is what its kind is for', async () => {
    upstream.respond({ kind: 'setCookie' })
    expect(await exchange(upstream.url, { method: 'HEAD' })).toMatch(/Content-Length: 11\r\n\r\n$/)
    upstream.respond({ kind: 'twoLengths' })
    expect(await exchange(upstream.url, { method: 'HEAD' })).toMatch(/\r\n\r\n\{"ok":true\}$/)
  })
})

/** Where a client that follows the redirect arrives, for the API `http://127.0.0.1:4500/v1`. */
const places: Record<RedirectPlace, string> = {
  relative: 'next?page=2',
  query: '?page=2',
  path: '/v1/next?page=2',
  url: 'http://ORIGIN/v1/next?page=2',
  hostRelative: '//ORIGIN/v1/next?page=2',
  root: '/v1',
  otherHost: 'http://other.example/v1/next',
  otherHostRelative: '//other.example/v1/next',
  otherPort: 'http://127.0.0.1:1/v1/next',
  otherScheme: 'https://ORIGIN/v1/next',
  userinfo: 'http://user:secret@ORIGIN/v1/next',
  above: '/next',
  beside: '/v1beside/next',
  dots: '/v1/../admin',
  encodedDots: '/v1/%2e%2e/admin',
  twiceEncodedDots: '/v1/%252e%252e/admin',
  encodedSlash: '/v1/..%2fadmin',
  backslashes: '/v1\\..\\admin',
  slashBackslash: '/\\other.example/next',
  tab: '/\t/other.example/next',
  javascript: 'javascript:alert(1)',
  invalid: 'http://[',
}

describe('redirects', () => {
  test.each(Object.entries(places))('%s', async (place, location) => {
    upstream.respond({ kind: 'redirect', to: place as RedirectPlace })
    const { host } = new URL(upstream.url)
    expect(await exchange(upstream.url)).toContain(`\r\nLocation: ${location.replace('ORIGIN', host)}\r\n`)
  })
})

test('README.md lists every response and place', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const names = [...Object.keys(cases), ...streamed, ...Object.keys(places)]
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
})
