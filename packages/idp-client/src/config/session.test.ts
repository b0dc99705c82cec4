import { describe, expect, test } from 'vitest'
import type { AppBaseUrl, Problem } from './config.ts'
import type { CookieContext } from './cookies.ts'
import type { Env } from './env.ts'
import type {
  IdpClientOptions,
  SessionConfiguration,
  SessionDataStore,
  TransactionCookieOptions,
} from './options.ts'
import { resolveSession, resolveSessionStore, resolveTransaction } from './session.ts'

const https: AppBaseUrl = { kind: 'static', url: 'https://app.example.com' }
const http: AppBaseUrl = { kind: 'static', url: 'http://app.example.com' }
const local: AppBaseUrl = { kind: 'static', url: 'http://localhost:3000' }
const inferred: AppBaseUrl = { kind: 'inferred' }
const development: CookieContext = { production: false, appBaseUrl: https }
const inferredInProduction: CookieContext = { production: true, appBaseUrl: inferred }

function collect<T>(resolve: (addIssue: (kind: Problem['kind'], message: string) => void) => T) {
  const problems: Problem[] = []
  const value = resolve((kind, message) => {
    problems.push({ kind, message })
  })
  return { value, problems }
}

function session(
  given: SessionConfiguration | undefined,
  env: Env = {},
  around: CookieContext = development,
) {
  return collect((addIssue) => resolveSession({ options: { session: given }, env, addIssue }, around))
}

function transaction(
  given: TransactionCookieOptions | undefined,
  around: Partial<Parameters<typeof resolveTransaction>[1]> = {},
  options: IdpClientOptions = {},
) {
  const surroundings = { ...development, sessionCookieName: '__session', crossSitePost: false, ...around }
  return collect((addIssue) =>
    resolveTransaction(
      { options: { ...options, transactionCookie: given }, env: {}, addIssue },
      surroundings,
    ),
  )
}

describe('session', () => {
  test('[S049,S073,S074,S075,S077,S078,S081,S083,S085] has defaults', () => {
    const { value, problems } = session(undefined)
    expect(problems).toEqual([])
    expect(value).toEqual({
      rolling: true,
      absoluteDuration: 259_200,
      inactivityDuration: 86_400,
      cookie: {
        name: '__session',
        secure: 'from-base-url',
        sameSite: 'lax',
        path: '/',
        transient: false,
        maxBytes: 6400,
      },
    })
    expect(value.cookie).not.toHaveProperty('domain')
  })

  test('[S049] missing fields have their defaults beside given ones', () => {
    const { value } = session({ absoluteDuration: 600, cookie: { path: '/app' } })
    expect(value).toMatchObject({ rolling: true, absoluteDuration: 600, inactivityDuration: 86_400 })
    expect(value.cookie).toMatchObject({ path: '/app', name: '__session', sameSite: 'lax' })
  })

  test('[S077,S079,S081,S083,S085,S087] every given field is used', () => {
    const cookie = {
      name: 'sid',
      secure: true,
      sameSite: 'strict',
      path: '/app',
      domain: 'Example.com',
      transient: true,
      maxBytes: 4000,
    } as const
    const { value, problems } = session({
      rolling: false,
      absoluteDuration: 1,
      inactivityDuration: 0,
      cookie,
    })
    expect(problems).toEqual([])
    expect(value).toEqual({
      rolling: false,
      absoluteDuration: 1,
      inactivityDuration: 0,
      cookie: { ...cookie, domain: 'example.com' },
    })
  })

  test.each([0, 0.9, -1])('[E2] a lifetime of %j is rejected', (seconds) => {
    for (const name of ['absoluteDuration', 'inactivityDuration'] as const) {
      const { problems } = session({ [name]: seconds })
      expect(problems).toEqual([
        {
          kind: 'wrong-option',
          message: expect.stringMatching(`^session.${name} must be a number of seconds from 1 to`),
        },
      ])
    }
    expect(session({ absoluteDuration: 1, inactivityDuration: 1 }).problems).toEqual([])
    expect(
      session({ rolling: false, inactivityDuration: Math.max(0, Math.trunc(seconds)) }).problems,
    ).toEqual([])
  })

  test.each([
    ['S080', 'IDP_COOKIE_SECURE', 'true', { secure: true }],
    ['S082', 'IDP_COOKIE_SAME_SITE', 'strict', { sameSite: 'strict' }],
    ['S084', 'IDP_COOKIE_PATH', '/v', { path: '/v' }],
    ['S086', 'IDP_COOKIE_DOMAIN', 'example.com', { domain: 'example.com' }],
    ['S088', 'IDP_COOKIE_TRANSIENT', 'true', { transient: true }],
  ] as const)('[%s] %s=%s', (_row, variable, text, expected) => {
    const { value, problems } = session({}, { [variable]: text })
    expect(problems).toEqual([])
    expect(value.cookie).toMatchObject(expected)
  })

  test('[S003] options override the cookie variables', () => {
    const env = {
      IDP_COOKIE_SECURE: 'true',
      IDP_COOKIE_SAME_SITE: 'strict',
      IDP_COOKIE_PATH: '/v',
      IDP_COOKIE_DOMAIN: 'variable.example',
      IDP_COOKIE_TRANSIENT: 'true',
    }
    const cookie = {
      secure: false,
      sameSite: 'lax',
      path: '/o',
      domain: 'example.com',
      transient: false,
    } as const
    expect(session({ cookie }, env).value.cookie).toMatchObject(cookie)
  })

  test.each([
    ['IDP_COOKIE_SECURE', 'yes'],
    ['IDP_COOKIE_SAME_SITE', 'loose'],
    ['IDP_COOKIE_PATH', 'app'],
    ['IDP_COOKIE_DOMAIN', 'https://example.com'],
    ['IDP_COOKIE_TRANSIENT', 'maybe'],
  ] as const)('an invalid %s is reported as a variable', (variable, text) => {
    const { problems } = session({}, { [variable]: text })
    expect(problems).toMatchObject([
      { kind: 'wrong-variable', message: expect.stringMatching(`^${variable} `) },
    ])
  })

  test.each([
    [{ rolling: 'yes' }, 'session.rolling'],
    [{ absoluteDuration: Number.POSITIVE_INFINITY }, 'session.absoluteDuration'],
    [{ absoluteDuration: 34_560_001 }, 'session.absoluteDuration'],
    [{ inactivityDuration: -1 }, 'session.inactivityDuration'],
    [{ inactivityDuration: '3600' }, 'session.inactivityDuration'],
    [{ cookie: { name: 'a b' } }, 'session.cookie.name'],
    [{ cookie: { name: 'a=b' } }, 'session.cookie.name'],
    [{ cookie: { name: 'ü' } }, 'session.cookie.name'],
    [{ cookie: { name: 'a'.repeat(129) } }, 'session.cookie.name'],
    [{ cookie: { secure: 'true' } }, 'session.cookie.secure'],
    [{ cookie: { sameSite: true } }, 'session.cookie.sameSite'],
    [{ cookie: { sameSite: 'Lax' } }, 'session.cookie.sameSite'],
    [{ cookie: { path: '/a; Domain=evil.example' } }, 'session.cookie.path'],
    [{ cookie: { path: '/a\r\nb' } }, 'session.cookie.path'],
    [{ cookie: { path: 'a' } }, 'session.cookie.path'],
    [{ cookie: { domain: 'example.com; Path=/' } }, 'session.cookie.domain'],
    [{ cookie: { domain: 'example.com:3000' } }, 'session.cookie.domain'],
    [{ cookie: { transient: 1 } }, 'session.cookie.transient'],
    [{ cookie: { maxBytes: 0 } }, 'session.cookie.maxBytes'],
  ])('rejects %j', (given, name) => {
    const { problems } = session(given as SessionConfiguration)
    expect(problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(problems[0]?.message.startsWith(`${name} must`)).toBe(true)
  })

  test('the maximum lifetime is the one that browsers accept', () => {
    expect(session({ absoluteDuration: 34_560_000 }).problems).toEqual([])
  })

  test('a leading dot of the domain is ignored', () => {
    expect(session({ cookie: { domain: '.example.com' } }).value.cookie.domain).toBe('example.com')
  })

  test('a domain that does not contain the host of the application is reported', () => {
    expect(session({ cookie: { domain: 'other.example' } }).problems).toMatchObject([{ kind: 'notice' }])
    expect(session({ cookie: { domain: 'pp.example.com' } }).problems).toMatchObject([{ kind: 'notice' }])
    expect(session({ cookie: { domain: 'app.example.com' } }).problems).toEqual([])
  })
})

describe('Secure', () => {
  const insecure = { cookie: { secure: false } }

  test('[S078] depends on the base URL of each request', () => {
    expect(session({}, {}, { production: false, appBaseUrl: http }).value.cookie.secure).toBe('from-base-url')
    expect(session({}, {}, { production: true, appBaseUrl: https }).value.cookie.secure).toBe('from-base-url')
    expect(session({}, {}, { production: false, appBaseUrl: inferred }).value.cookie.secure).toBe(
      'from-base-url',
    )
  })

  test('[S239] is always set in production with an inferred base URL', () => {
    expect(session({}, {}, inferredInProduction).value.cookie.secure).toBe(true)
    expect(transaction({}, inferredInProduction).value.cookie.secure).toBe(true)
  })

  test('[S246] cannot be false in production with an inferred base URL, by option or variable', () => {
    const byOption = session(insecure, {}, inferredInProduction).problems
    expect(byOption).toMatchObject([
      { kind: 'wrong-option', message: expect.stringContaining('session.cookie.secure') },
    ])
    const byVariable = session({}, { IDP_COOKIE_SECURE: 'false' }, inferredInProduction).problems
    expect(byVariable).toMatchObject([
      { kind: 'wrong-variable', message: expect.stringContaining('IDP_COOKIE_SECURE') },
    ])
  })

  test('[S247] cannot be false for the transaction cookie either', () => {
    expect(transaction({ secure: false }, inferredInProduction).problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringContaining('transactionCookie.secure') },
    ])
  })

  test('[S079,S091] may be false elsewhere, and is reported on https', () => {
    const onHttps = session(insecure, {}, { production: true, appBaseUrl: https })
    expect(onHttps.value.cookie.secure).toBe(false)
    expect(onHttps.problems).toMatchObject([{ kind: 'notice' }])
    expect(session(insecure, {}, { production: true, appBaseUrl: http }).problems).toEqual([])
    expect(session(insecure, {}, { production: false, appBaseUrl: inferred }).problems).toEqual([])
    const list: AppBaseUrl = {
      kind: 'allow-list',
      entries: [{ origin: 'https://a.example.com', url: 'https://a.example.com' }],
    }
    expect(transaction({ secure: false }, { production: true, appBaseUrl: list })).toMatchObject({
      value: { cookie: { secure: false } },
      problems: [{ kind: 'notice' }],
    })
  })

  test('is reported if it is true on plain http, except on local hosts', () => {
    const secure = { cookie: { secure: true } }
    expect(session(secure, {}, { production: false, appBaseUrl: http }).problems).toMatchObject([
      { kind: 'notice' },
    ])
    expect(session(secure, {}, { production: false, appBaseUrl: local }).problems).toEqual([])
  })

  test('is required by SameSite=None', () => {
    expect(session({ cookie: { sameSite: 'none' } })).toMatchObject({
      value: { cookie: { secure: true } },
      problems: [],
    })
    const off = session({ cookie: { sameSite: 'none', secure: false } })
    expect(off.problems).toMatchObject([{ kind: 'wrong-option' }])
    const byVariables = session({}, { IDP_COOKIE_SAME_SITE: 'none', IDP_COOKIE_SECURE: 'false' })
    expect(byVariables.problems).toMatchObject([{ kind: 'wrong-variable' }])
    const onHttp = session({ cookie: { sameSite: 'none' } }, {}, { production: false, appBaseUrl: http })
    expect(onHttp.problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test.each(['__Host-sid', '__Secure-sid', '__host-sid', '__Http-sid', '__Host-Http-sid'])(
    'is required by a name like %s',
    (name) => {
      expect(session({ cookie: { name } })).toMatchObject({
        value: { cookie: { secure: true } },
        problems: [],
      })
      expect(session({ cookie: { name, secure: false } }).problems).toMatchObject([{ kind: 'wrong-option' }])
      expect(transaction({ prefix: name, secure: false }).problems).toMatchObject([{ kind: 'wrong-option' }])
    },
  )

  test('a __Host- name allows neither path nor domain', () => {
    expect(session({ cookie: { name: '__Host-sid', path: '/app' } }).problems).toMatchObject([
      { message: expect.stringMatching(/^session\.cookie\.path must be \//) },
    ])
    expect(
      session({ cookie: { name: '__Host-sid' } }, { IDP_COOKIE_DOMAIN: 'example.com' }).problems,
    ).toMatchObject([
      { kind: 'wrong-variable', message: expect.stringMatching(/^IDP_COOKIE_DOMAIN must be left out/) },
    ])
    expect(
      session({ cookie: { name: '__Secure-sid', path: '/app', domain: 'example.com' } }).problems,
    ).toEqual([])
    expect(transaction({ prefix: '__Host-txn_', path: '/app' }).problems).toHaveLength(1)
  })

  test('is not compared with a base URL that is itself invalid', () => {
    const unknown = { production: true, appBaseUrl: null }
    expect(session(insecure, {}, unknown).problems).toEqual([])
    expect(session({ cookie: { sameSite: 'none' } }, {}, unknown).problems).toEqual([])
  })
})

describe('transaction', () => {
  test('[S050,S090,S091,S092,S093,S094] has defaults', () => {
    expect(transaction(undefined)).toEqual({
      value: {
        parallel: true,
        cookie: { prefix: '__txn_', secure: 'from-base-url', sameSite: 'lax', path: '/', maxAge: 3600 },
      },
      problems: [],
    })
  })

  test('[S090,S091,S092,S093,S094] every given field is used', () => {
    const cookie = { prefix: 'login_', secure: true, sameSite: 'strict', path: '/auth', maxAge: 600 } as const
    const { value, problems } = transaction(cookie, {}, { enableParallelTransactions: false })
    expect(problems).toEqual([])
    expect(value).toEqual({ parallel: false, cookie })
    expect(transaction({ sameSite: 'none' }).value.cookie).toMatchObject({ sameSite: 'none', secure: true })
  })

  test.each([
    [{ prefix: 'a;b' }, 'transactionCookie.prefix'],
    [{ maxAge: Number.NaN }, 'transactionCookie.maxAge'],
    [{ maxAge: 34_560_001 }, 'transactionCookie.maxAge'],
    [{ path: '', sameSite: 'x' }, 'transactionCookie.sameSite'],
    [{ secure: 'no' }, 'transactionCookie.secure'],
  ])('rejects %j', (given, name) => {
    const { problems } = transaction(given as TransactionCookieOptions)
    expect(problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(problems[0]?.message.startsWith(`${name} must`)).toBe(true)
  })

  test('its prefix must not match the session cookie or cookies whose names extend it', () => {
    for (const prefix of ['__s', '__session', '__session__', '__session__e', '__session__conn_']) {
      expect(transaction({ prefix }).problems).toMatchObject([{ kind: 'wrong-option' }])
    }
    expect(transaction({ prefix: '__session_txn_' }).problems).toEqual([])
    expect(transaction({}, { sessionCookieName: '__txn_session' }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })

  test('a response by cross-site POST makes it SameSite=None and Secure', () => {
    const crossSitePost = true
    expect(transaction({}, { crossSitePost })).toMatchObject({
      value: { cookie: { sameSite: 'none', secure: true } },
      problems: [],
    })
    expect(transaction({ sameSite: 'none' }, { crossSitePost }).problems).toEqual([])
    expect(transaction({ sameSite: 'lax' }, { crossSitePost }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
    expect(transaction({ secure: false }, { crossSitePost }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
    expect(transaction({}, { crossSitePost, appBaseUrl: http }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
    expect(transaction({}, { crossSitePost, appBaseUrl: local }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })
})

describe('session store', () => {
  const store: SessionDataStore = {
    get: async () => null,
    set: async () => undefined,
    delete: async () => undefined,
  }
  const resolveIt = (given: unknown) =>
    collect((addIssue) =>
      resolveSessionStore({ options: { sessionStore: given as SessionDataStore }, env: {}, addIssue }),
    )

  test('requires three functions only', () => {
    expect(resolveIt(store)).toEqual({ value: store, problems: [] })
    expect(resolveIt({ ...store, deleteByLogoutToken: async () => undefined }).problems).toEqual([])
    expect(resolveIt(undefined)).toEqual({ value: undefined, problems: [] })
  })

  test.each(['redis', {}, { ...store, delete: undefined }, { ...store, deleteByLogoutToken: true }])(
    'rejects %j',
    (given) => {
      expect(resolveIt(given)).toMatchObject({ value: undefined, problems: [{ kind: 'wrong-option' }] })
    },
  )

  test.each([
    [() => store, 'call it, as in memoryStore()'],
    [{ get: async () => null, sendCommand: async () => null }, 'pass redisStore(client)'],
    [{ query: async () => ({ rows: [] }) }, 'pass postgresStore(pool)'],
  ])('names the expected type instead of %o', (given, advice) => {
    expect(resolveIt(given).problems).toMatchObject([{ message: expect.stringContaining(advice) }])
  })
})

describe('[N8] plain http in production', () => {
  const noticesOf = (
    appBaseUrl: AppBaseUrl,
    { given, env, production = true }: { given?: SessionConfiguration; env?: Env; production?: boolean } = {},
  ) => session(given, env, { production, appBaseUrl }).problems

  test('one notice says that the session cookie is sent in clear text', () => {
    const both: AppBaseUrl = {
      kind: 'allow-list',
      entries: ['https://app.example.com', 'http://10.0.0.7'].map((url) => ({ origin: url, url })),
    }
    for (const appBaseUrl of [http, both])
      expect(noticesOf(appBaseUrl)).toEqual([
        { kind: 'notice', message: expect.stringMatching(/clear text/) },
      ])
  })

  test('none is reported for this machine, https, an inferred base URL, or outside production', () => {
    for (const appBaseUrl of [local, https, inferred]) expect(noticesOf(appBaseUrl)).toEqual([])
    expect(noticesOf(http, { production: false })).toEqual([])
  })

  test('secure: false turns it off', () => {
    expect(noticesOf(http, { given: { cookie: { secure: false } } })).toEqual([])
    expect(noticesOf(http, { env: { IDP_COOKIE_SECURE: 'false' } })).toEqual([])
  })
})
