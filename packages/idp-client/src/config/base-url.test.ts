import { describe, expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { isIdpError } from '../errors/base.ts'
import type { RequestView } from '../http/exchange.ts'
import { isLoopback, resolveAppBaseUrl, resolveBaseUrl } from './base-url.ts'
import type { AppBaseUrl, Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}, basePath = '') {
  const problems: Problem[] = []
  const appBaseUrl = resolveAppBaseUrl(
    { options, env, addIssue: (kind, message) => problems.push({ kind, message }) },
    { basePath, callback: '/auth/callback' },
  )
  return { appBaseUrl, problems }
}

function view(
  headers: Record<string, string>,
  url: string | null = 'http://10.0.0.7:3000/auth/login',
): RequestView {
  return {
    headers: new Headers(headers),
    method: 'GET',
    url: url === null ? null : new URL(url),
    form: async () => new URLSearchParams(),
    json: async () => ({}),
  }
}

const inferred = { appBaseUrl: { kind: 'inferred' }, production: false, trustProxy: false } as const
const inProduction = { ...inferred, production: true } as const

function allowList(...urls: string[]): AppBaseUrl {
  const { appBaseUrl } = resolveIt({ appBaseUrl: urls })
  if (!appBaseUrl) throw new Error('not usable')
  return appBaseUrl
}

function codeOf(run: () => string): string {
  try {
    return `resolved to ${run()}`
  } catch (error) {
    return isIdpError(error) ? error.code : `not ours: ${error}`
  }
}

describe('resolveAppBaseUrl', () => {
  test('[S038] one URL is the base URL, with its path and without a trailing slash', () => {
    expect(resolveIt({ appBaseUrl: 'https://app.example.com' }).appBaseUrl).toEqual({
      kind: 'static',
      url: 'https://app.example.com',
    })
    expect(resolveIt({ appBaseUrl: 'HTTPS://App.Example.com:443/docs//' }).appBaseUrl).toEqual({
      kind: 'static',
      url: 'https://app.example.com/docs',
    })
  })

  test.each([
    ['http://localhost:3000/auth/callback', ''],
    ['https://app.example.com/shop/auth/callback/', ''],
    [['https://a.example.com', 'https://b.example.com/auth/callback'], ''],
    ['https://app.example.com/auth/callback', '/shop'],
  ])('[N4] the callback URL is named as such: %j', (appBaseUrl, basePath) => {
    const { appBaseUrl: resolved, problems } = resolveIt({ appBaseUrl }, {}, basePath)
    expect(resolved).toBeNull()
    expect(problems).toEqual([
      {
        kind: 'wrong-option',
        message:
          'appBaseUrl must be the URL of the application, not its callback URL: remove /auth/callback, which is added to it.',
      },
    ])
  })

  test('[S039] a list is an allow-list', () => {
    const { appBaseUrl, problems } = resolveIt({
      appBaseUrl: ['https://a.example.com/', 'https://b.example.com:8443/app', 'https://a.example.com'],
    })
    expect(problems).toEqual([])
    expect(appBaseUrl).toEqual({
      kind: 'allow-list',
      entries: [
        { origin: 'https://a.example.com', url: 'https://a.example.com' },
        { origin: 'https://b.example.com:8443', url: 'https://b.example.com:8443/app' },
      ],
    })
  })

  test('[S042,S255] without a value it is inferred, and nothing is reported', () => {
    expect(resolveIt({})).toEqual({ appBaseUrl: { kind: 'inferred' }, problems: [] })
    expect(resolveIt({ appBaseUrl: '' })).toEqual({ appBaseUrl: { kind: 'inferred' }, problems: [] })
  })

  test('[S043] APP_BASE_URL with one value is the base URL', () => {
    expect(resolveIt({}, { APP_BASE_URL: 'https://app.example.com' }).appBaseUrl).toEqual({
      kind: 'static',
      url: 'https://app.example.com',
    })
  })

  test('[S044] APP_BASE_URL with several values is an allow-list; empty parts are ignored', () => {
    expect(
      resolveIt({}, { APP_BASE_URL: 'https://a.example.com , https://b.example.com,' }).appBaseUrl,
    ).toEqual({
      kind: 'allow-list',
      entries: [
        { origin: 'https://a.example.com', url: 'https://a.example.com' },
        { origin: 'https://b.example.com', url: 'https://b.example.com' },
      ],
    })
  })

  test('[S003] the option overrides APP_BASE_URL', () => {
    const { appBaseUrl } = resolveIt(
      { appBaseUrl: 'https://o.example.com' },
      { APP_BASE_URL: 'https://v.example.com' },
    )
    expect(appBaseUrl).toEqual({ kind: 'static', url: 'https://o.example.com' })
  })

  test.each([
    'app.example.com',
    'ftp://app.example.com',
    'https://',
    'https:app.example.com',
    'https://user:pw@app.example.com',
    'https://app.example.com/?a=1',
    'https://app.example.com/#a',
    'https://app.example.com?',
    'https://app example.com',
    'https:\\\\app.example.com',
    'https://app.example.com:99999',
    7,
    {},
  ])('rejects %j as an option, with a message that does not repeat it', (value) => {
    const { appBaseUrl, problems } = resolveIt({ appBaseUrl: value as string })
    expect(appBaseUrl).toBeNull()
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-option'])
    expect(problems[0]?.message).toMatch(/^appBaseUrl must be a URL like/)
    expect(problems[0]?.message).not.toContain('app example.com')
  })

  test('an invalid variable is reported as a variable', () => {
    expect(resolveIt({}, { APP_BASE_URL: 'app.example.com' }).problems).toMatchObject([
      { kind: 'wrong-variable' },
    ])
    expect(resolveIt({}, { APP_BASE_URL: ',' }).problems).toMatchObject([{ kind: 'wrong-variable' }])
  })

  test('an empty list and a list with an invalid entry are rejected', () => {
    expect(resolveIt({ appBaseUrl: [] }).problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(resolveIt({ appBaseUrl: ['https://a.example.com', 'b'] }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })

  test('two paths of one origin are rejected', () => {
    const { problems } = resolveIt({ appBaseUrl: ['https://a.example.com/x', 'https://a.example.com/y'] })
    expect(problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('[S151] a path together with the base-path variable is rejected, as an option or as a variable', () => {
    expect(resolveIt({ appBaseUrl: 'https://a.example.com/docs' }, {}, '/docs')).toMatchObject({
      appBaseUrl: null,
      problems: [
        {
          kind: 'wrong-option',
          message: expect.stringMatching(/FRAMEWORK_PUBLIC_BASE_PATH.*NEXT_PUBLIC_BASE_PATH/),
        },
      ],
    })
    expect(resolveIt({}, { APP_BASE_URL: 'https://a.example.com/docs' }, '/docs')).toMatchObject({
      appBaseUrl: null,
      problems: [{ kind: 'wrong-variable', message: expect.stringMatching(/^APP_BASE_URL has a path/) }],
    })
    expect(
      resolveIt({ appBaseUrl: ['https://a.example.com', 'https://b.example.com/docs'] }, {}, '/docs')
        .problems,
    ).toHaveLength(1)
  })

  test('a root URL may be combined with the base-path variable', () => {
    expect(resolveIt({ appBaseUrl: 'https://a.example.com/' }, {}, '/docs').problems).toEqual([])
  })
})

describe('baseUrlFor, fixed', () => {
  test('[S038] no request changes a fixed base URL, and none is required', () => {
    const config = {
      ...inferred,
      trustProxy: true,
      appBaseUrl: { kind: 'static', url: 'https://a.example.com/x' },
    } as const
    expect(resolveBaseUrl(config, view({ host: 'evil.example', 'x-forwarded-host': 'evil.example' }))).toBe(
      'https://a.example.com/x',
    )
    expect(resolveBaseUrl(config, null)).toBe('https://a.example.com/x')
  })
})

describe('baseUrlFor, allow-list', () => {
  const config = {
    production: true,
    trustProxy: true,
    appBaseUrl: allowList(
      'https://a.example.com',
      'https://b.example.com/app',
      'http://intranet:8080',
      'http://localhost:3000',
    ),
  }

  test('[S040] the matching entry is used, with its path', () => {
    expect(resolveBaseUrl(config, view({ host: 'b.example.com' }))).toBe('https://b.example.com/app')
    expect(resolveBaseUrl(config, view({ host: 'inner', 'x-forwarded-host': 'A.example.com' }))).toBe(
      'https://a.example.com',
    )
    expect(resolveBaseUrl(config, view({ host: 'localhost:3000' }))).toBe('http://localhost:3000')
  })

  test('an http entry matches an http request in production', () => {
    expect(resolveBaseUrl(config, view({ host: 'intranet:8080' }))).toBe('http://intranet:8080')
    const proxied = view({ host: 'intranet:8080', 'x-forwarded-proto': 'https' })
    expect(codeOf(() => resolveBaseUrl(config, proxied))).toBe('BASE_URL_NOT_ALLOWED')
  })

  test.each([
    'evil.example',
    'a.example.com:8443',
    'a.example.com.evil.example',
    'xa.example.com',
    'localhost:3001',
  ])('[S041] %s is not in the list', (host) => {
    expect(codeOf(() => resolveBaseUrl(config, view({ host })))).toBe('BASE_URL_NOT_ALLOWED')
  })

  test('[S041] hostile hosts never resolve to anything but an entry of the list', () => {
    const urls = new Set([
      'https://a.example.com',
      'https://b.example.com/app',
      'http://intranet:8080',
      'http://localhost:3000',
    ])
    fc.assert(
      fc.property(hostileHeader(), hostileHeader(), (host, forwardedHost) => {
        const request = view({ host, 'x-forwarded-host': forwardedHost })
        const outcome = codeOf(() => resolveBaseUrl(config, request))
        expect(
          outcome === 'BASE_URL_UNKNOWN' ||
            outcome === 'BASE_URL_NOT_ALLOWED' ||
            urls.has(outcome.replace('resolved to ', '')),
        ).toBe(true)
      }),
    )
  })

  test('without a request no entry is selected', () => {
    expect(codeOf(() => resolveBaseUrl(config, null))).toBe('BASE_URL_UNKNOWN')
  })
})

describe('baseUrlFor, inferred', () => {
  test('[S042] is host and protocol of the request', () => {
    expect(resolveBaseUrl(inferred, view({ host: 'App.Example.com:3000' }))).toBe(
      'http://app.example.com:3000',
    )
    expect(resolveBaseUrl(inferred, view({ host: 'app.example.com' }, 'https://ignored/'))).toBe(
      'https://app.example.com',
    )
    expect(resolveBaseUrl(inferred, view({ host: 'my_app:3000' }))).toBe('http://my_app:3000')
    expect(resolveBaseUrl(inferred, view({ host: '[2001:db8::1]:3000' }))).toBe('http://[2001:db8::1]:3000')
    expect(resolveBaseUrl(inferred, view({ host: 'app.example.com:80' }))).toBe('http://app.example.com')
  })

  test('the URL of a Web request is used if it has no Host header', () => {
    expect(resolveBaseUrl(inferred, view({}, 'https://app.example.com/x'))).toBe('https://app.example.com')
    expect(codeOf(() => resolveBaseUrl(inferred, view({}, null)))).toBe('BASE_URL_UNKNOWN')
    expect(codeOf(() => resolveBaseUrl(inferred, null))).toBe('BASE_URL_UNKNOWN')
  })

  test('a request without a protocol is http outside production', () => {
    expect(resolveBaseUrl(inferred, view({ host: 'localhost:3000' }, null))).toBe('http://localhost:3000')
  })

  test.each([
    ['app.example.com', 'https://app.example.com'],
    ['app.example.com:8080', 'https://app.example.com:8080'],
    ['app.example.com:443', 'https://app.example.com'],
    ['localhost:3000', 'http://localhost:3000'],
    ['tenant.localhost', 'http://tenant.localhost'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['127.9.9.9', 'http://127.9.9.9'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['localhost.evil.example', 'https://localhost.evil.example'],
    ['notlocalhost', 'https://notlocalhost'],
    ['10.0.0.7', 'https://10.0.0.7'],
  ])('in production %s becomes %s although the request used http', (host, expected) => {
    expect(resolveBaseUrl(inProduction, view({ host }))).toBe(expected)
  })

  test('forwarded headers are used only with trustProxy', () => {
    const request = view({
      host: 'inner:3000',
      'x-forwarded-host': 'app.example.com, inner',
      'x-forwarded-proto': 'https, http',
    })
    expect(resolveBaseUrl(inferred, request)).toBe('http://inner:3000')
    expect(resolveBaseUrl({ ...inferred, trustProxy: true }, request)).toBe('https://app.example.com')
    expect(resolveBaseUrl({ ...inProduction, trustProxy: true }, request)).toBe('https://app.example.com')
  })

  test.each([
    ['wss', 'https://app.example.com'],
    ['WSS', 'https://app.example.com'],
    ['ws', 'http://app.example.com'],
  ])('a proxy that forwards %s for a WebSocket names the scheme of its handshake', (proto, expected) => {
    const request = view({ host: 'app.example.com', 'x-forwarded-proto': proto })
    expect(resolveBaseUrl({ ...inferred, trustProxy: true }, request)).toBe(expected)
  })

  test('a proxy cannot disable https in production', () => {
    const request = view({ host: 'app.example.com', 'x-forwarded-proto': 'http' })
    expect(resolveBaseUrl({ ...inProduction, trustProxy: true }, request)).toBe('https://app.example.com')
  })

  test('an empty forwarded header is ignored; an invalid one is rejected, not ignored', () => {
    const trusting = { ...inferred, trustProxy: true }
    expect(resolveBaseUrl(trusting, view({ host: 'a.example.com', 'x-forwarded-host': ' ' }))).toBe(
      'http://a.example.com',
    )
    expect(
      codeOf(() => resolveBaseUrl(trusting, view({ host: 'a.example.com', 'x-forwarded-host': ', b' }))),
    ).toBe('BASE_URL_UNKNOWN')
    expect(
      codeOf(() => resolveBaseUrl(trusting, view({ host: 'a.example.com', 'x-forwarded-proto': 'ftp' }))),
    ).toBe('BASE_URL_UNKNOWN')
    expect(codeOf(() => resolveBaseUrl(trusting, view({ host: 'a.example.com' }, 'file:///x')))).toBe(
      'BASE_URL_UNKNOWN',
    )
  })

  test.each([
    'user@evil.example',
    'user:pw@evil.example',
    'app.example.com@evil.example',
    'app.example.com/path',
    'app.example.com\\path',
    'app.example.com?x',
    'app.example.com#x',
    'app.example.com:80:80',
    'app.example.com:80@evil.example',
    'app.example.com:',
    'app.example.com:0',
    'app.example.com:080',
    'app.example.com:99999',
    'app.example.com:x',
    'a.example.com, b.example.com',
    'a.example.com b.example.com',
    'app.example.com.',
    'app..example.com',
    '.example.com',
    '-app.example.com',
    '2130706433',
    '0x7f.0.0.1',
    '127.1',
    '0177.0.0.1',
    '256.1.1.1',
    '[::1',
    '::1',
    '[::1%25eth0]',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
    '%65vil.example',
    'ä.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(200)}com`,
    'javascript:alert(1)',
    '',
  ])('rejects the host %j', (host) => {
    for (const config of [inferred, inProduction]) {
      expect(codeOf(() => resolveBaseUrl(config, view({ host })))).toBe('BASE_URL_UNKNOWN')
    }
  })

  test('a hostile host is either rejected or is exactly the host of the origin', () => {
    fc.assert(
      fc.property(hostileHeader(), fc.boolean(), (host, production) => {
        const outcome = codeOf(() => resolveBaseUrl({ ...inferred, production }, view({ host })))
        if (outcome === 'BASE_URL_UNKNOWN') return
        const url = new URL(outcome.replace('resolved to ', ''))
        const written = host.trim().toLowerCase()
        expect([url.host, `${url.hostname}:80`, `${url.hostname}:443`]).toContain(written)
        expect(`${url.protocol}//${url.host}`).toBe(url.origin)
        expect(production && url.protocol === 'http:').toBe(production && isLoopback(url.host))
      }),
    )
  })

  test('no request influences a later one', () => {
    const clean = view({ host: 'app.example.com' })
    const before = resolveBaseUrl(inProduction, clean)
    codeOf(() => resolveBaseUrl(inProduction, view({ host: 'evil.example' })))
    codeOf(() => resolveBaseUrl(inProduction, view({ host: 'user@evil.example' })))
    expect(resolveBaseUrl(inProduction, clean)).toBe(before)
  })

  test('errors do not contain values of the request', () => {
    try {
      resolveBaseUrl(inferred, view({ host: 'user@evil.example' }))
      expect.unreachable()
    } catch (error) {
      expect(String(error)).not.toContain('evil')
      expect(isIdpError(error, 'BASE_URL_UNKNOWN')).toBe(true)
    }
  })
})

/** Header values near hosts: pieces that parsers are known to read in different ways, in any order. */
function hostileHeader(): fc.Arbitrary<string> {
  const pieces = fc.constantFrom(
    ...[
      'a.example.com',
      'localhost',
      '127.0.0.1',
      '[::1]',
      'evil.example',
      '@',
      ':',
      '/',
      '\\',
      ',',
      ' ',
      '.',
      '..',
    ],
    ...[
      '%2f',
      '%00',
      '#',
      '?',
      '443',
      '80',
      '8080',
      '0',
      '0x7f',
      'xn--',
      '-',
      '_',
      '[',
      ']',
      '\u00e4',
      'http://',
    ],
  )
  const joined = fc.array(pieces, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  return fc.oneof(joined, fc.webAuthority({ withUserInfo: true, withPort: true }), fc.domain())
}
