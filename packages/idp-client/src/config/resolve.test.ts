import { afterEach, describe, expect, test, vi } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { systemClock } from '../lib/clock.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Config } from './config.ts'
import type { Env } from './env.ts'
import { variableNames } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { customClock, customFetch } from './options.ts'
import { resolve } from './resolve.ts'
import { optionPaths } from './unknown-keys.ts'
import { vendorValues } from './vendor.ts'

const complete: IdpClientOptions = {
  domain: 'tenant.example.com',
  clientId: 'client-1',
  clientSecret: 'client-secret',
  secret: '0123456789abcdef'.repeat(4),
  appBaseUrl: 'https://app.example.com',
}

function configOf(options: IdpClientOptions = {}, env: Env = {}): Config {
  const { config, problems } = resolve({ ...complete, ...options }, env)
  if (!config) throw new Error(problems.map(({ message }) => message).join('\n'))
  return config
}

const kindsOf = (options: IdpClientOptions, env: Env = {}) =>
  resolve(options, env).problems.map(({ kind }) => kind)

afterEach(() => vi.unstubAllGlobals())

describe('complete configurations', () => {
  test('[S054,S061,S062,S064,S066,S071,S257] have defaults', () => {
    expect(configOf()).toMatchObject({
      production: false,
      basePath: '',
      httpTimeout: 5000,
      telemetry: true,
      tokenRefreshBuffer: 0,
      mfaTokenTtl: 300,
      logoutStrategy: 'auto',
      includeIdTokenHint: true,
      revokeAtLogout: true,
      signInReturnToPath: '/',
      allowInsecureRequests: false,
      noContentProfileResponseWhenUnauthenticated: false,
      pushedAuthorizationRequests: false,
      fetchUserInfo: false,
      processLasts: true,
      hooks: {},
      vendor: vendorValues,
      session: { absoluteDuration: 259_200, inactivityDuration: 86_400 },
      transaction: { parallel: true, cookie: { maxAge: 3600 } },
      dpop: { enabled: false, keys: { kind: 'none' } },
    })
    expect(configOf().clock).toBe(systemClock)
  })

  test('[S003,S023,S026,S028,S043,S046] may take every required option from variables', () => {
    const env = {
      IDP_DOMAIN: 'tenant.example.com',
      IDP_CLIENT_ID: 'client-1',
      IDP_CLIENT_SECRET: 'client-secret',
      IDP_SECRET: '0123456789abcdef'.repeat(4),
      APP_BASE_URL: 'https://app.example.com',
    }
    const byVariables = resolve({}, env)
    expect(byVariables.problems).toEqual([])
    const { fetch: _a, log: _b, ...fromEnv } = byVariables.config ?? {}
    const { fetch: _c, log: _d, ...fromOptions } = configOf()
    expect(fromEnv).toEqual(fromOptions)
  })

  test('[S025,S026] clientId is set by option or variable', () => {
    expect(configOf({ clientId: 'by-option' }, { IDP_CLIENT_ID: 'by-variable' }).clientId).toBe('by-option')
    expect(configOf({ clientId: undefined }, { IDP_CLIENT_ID: 'by-variable' }).clientId).toBe('by-variable')
  })

  test('[S048] signInReturnToPath is a path of the application', () => {
    expect(configOf({ signInReturnToPath: '/home?tab=1#top' }).signInReturnToPath).toBe('/home?tab=1#top')
  })

  test.each(['auto', 'oidc', 'v2', 'local'] as const)(
    '[S054, J7] logoutStrategy %s is accepted',
    (logoutStrategy) => {
      expect(configOf({ logoutStrategy }).logoutStrategy).toBe(logoutStrategy)
    },
  )

  test('[S061,S063,S071] given values are used', () => {
    const given = { httpTimeout: 250, enableTelemetry: false, mfaTokenTtl: 60 }
    expect(configOf(given)).toMatchObject({ httpTimeout: 250, telemetry: false, mfaTokenTtl: 60 })
  })

  test('[S072] IDP_MFA_TOKEN_TTL sets mfaTokenTtl', () => {
    expect(configOf({}, { IDP_MFA_TOKEN_TTL: '120' }).mfaTokenTtl).toBe(120)
    expect(configOf({ mfaTokenTtl: 10 }, { IDP_MFA_TOKEN_TTL: '120' }).mfaTokenTtl).toBe(10)
  })

  test('[S059,S060] allowInsecureRequests has no effect in production', () => {
    const options = { ...complete, domain: 'http://localhost:4000', allowInsecureRequests: true }
    expect(resolve(options, {}).config?.provider.url).toBe('http://localhost:4000')
    const inProduction = resolve(options, { NODE_ENV: 'production' })
    expect(inProduction.config).toBeNull()
    expect(inProduction.problems.map(({ kind }) => kind).sort()).toEqual(['notice', 'wrong-option'])
    expect(configOf({ allowInsecureRequests: true }, { NODE_ENV: 'production' }).allowInsecureRequests).toBe(
      false,
    )
  })

  test('[S065] the access-token route is not mounted if its option is false', () => {
    expect(configOf({ enableAccessTokenEndpoint: false }).disabledRoutes.has('accessToken')).toBe(true)
  })

  test('hooks, vendor values, clock and fetch are unchanged', async () => {
    const beforeSessionSaved = vi.fn()
    const onCallback = vi.fn()
    const clock = fakeClock()
    const carrier = vi.fn()
    const config = configOf({
      beforeSessionSaved,
      onCallback,
      vendor: { logoutPath: '/out' },
      [customClock]: clock,
      [customFetch]: carrier,
    })
    expect(config.hooks).toEqual({ beforeSessionSaved, onCallback })
    expect(config).toMatchObject({ clock, fetch: carrier })
    expect(config?.vendor).toEqual({ ...vendorValues, logoutPath: '/out' })
  })

  test('the default fetch is the global one at the time of the request', async () => {
    const config = configOf()
    const later = vi.fn(async () => new Response('later'))
    vi.stubGlobal('fetch', later)
    const init = { method: 'POST' }
    await expect((await config.fetch('https://tenant.example.com/x', init)).text()).resolves.toBe('later')
    expect(later).toHaveBeenCalledExactlyOnceWith('https://tenant.example.com/x', init)
  })

  test.each([
    [{}, { NODE_ENV: 'development' }, true],
    [{}, { NODE_ENV: 'test' }, true],
    [{}, {}, false],
    [{}, { NODE_ENV: 'staging' }, false],
    [{}, { NODE_ENV: 'production' }, false],
    [{ appBaseUrl: ['https://a.example.com'] }, {}, true],
    [{ appBaseUrl: undefined }, { NODE_ENV: 'production' }, false],
    [{ appBaseUrl: ['https://a.example.com'] }, { NODE_ENV: 'production' }, true],
    [{ trustProxy: true }, { NODE_ENV: 'production' }, true],
    [{ trustProxy: true }, {}, true],
    [{ trustProxy: false }, { NODE_ENV: 'test' }, false],
  ])('[E3] trustProxy with %j and %j is %s', (options, env, expected) => {
    expect(configOf(options, env).trustProxy).toBe(expected)
  })

  test('form_post affects the transaction cookie only', () => {
    const config = configOf({ authorizationParameters: { response_mode: 'form_post' } })
    expect(config.transaction.cookie).toMatchObject({ sameSite: 'none', secure: true })
    expect(config.session.cookie).toMatchObject({ sameSite: 'lax', secure: 'from-base-url' })
  })

  test('the result is frozen, the given options are not', () => {
    const routes = { login: '/in' }
    const session = { cookie: { path: '/x' } }
    const config = configOf({
      routes,
      session,
      vendor: { logoutPath: '/out' },
      appBaseUrl: ['https://a.example.com'],
    })
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      expect(Object.isFrozen(value)).toBe(true)
      for (const member of Object.values(value)) visit(member)
    }
    visit(config)
    expect([routes, session, session.cookie].some((given) => Object.isFrozen(given))).toBe(false)
  })
})

describe('[E2] white space', () => {
  const credentials = ['clientId', 'clientSecret', 'domain'] as const

  test.each(['', ' ', '\t\n', '\r\n'])('%j counts as absent', (blank) => {
    for (const name of [...credentials, 'secret']) {
      const { config, problems } = resolve({ ...complete, [name]: blank }, {})
      expect(config).toBeNull()
      expect(problems).toEqual([{ kind: 'missing', message: expect.stringMatching(`^${name} is missing`) }])
    }
    const env = {
      IDP_CLIENT_ID: 'variable',
      IDP_CLIENT_SECRET: 'variable',
      IDP_DOMAIN: 'variable.example.com',
    }
    const config = configOf({ clientId: blank, clientSecret: blank, domain: blank }, env)
    expect([config.clientId, config.clientAuth, config.provider.url]).toEqual([
      'variable',
      { kind: 'secret', secret: 'variable' },
      'https://variable.example.com',
    ])
  })

  test.each(['\n', '\r\n', ' ', '\n\n'])(
    '%j around a value is ignored, because files often end with a line break',
    (end) => {
      const options = Object.fromEntries(
        [...credentials, 'secret' as const].map((name) => [name, `${end}${complete[name]}${end}`]),
      )
      const { clientAuth, clientId, provider, secrets } = configOf(options)
      const plain = configOf()
      expect({ clientAuth, clientId, provider, secrets }).toEqual({
        clientAuth: plain.clientAuth,
        clientId: plain.clientId,
        provider: plain.provider,
        secrets: plain.secrets,
      })
      expect(configOf({ secret: [`${complete.secret}${end}`] }).secrets).toEqual(plain.secrets)
    },
  )

  test.each([
    ['transactionCookie.maxAge', { transactionCookie: { maxAge: 0 } }],
    ['mfaTokenTtl', { mfaTokenTtl: 0 }],
  ])('%s of 0 is rejected, because every attempt would exceed it', (name, options) => {
    expect(resolve({ ...complete, ...options }, {}).problems).toEqual([
      {
        kind: 'wrong-option',
        message: expect.stringMatching(`^${name} must be a number of seconds from 1 to`),
      },
    ])
  })

  test('an unknown key of vendor is reported with the nearest name, and has no effect', () => {
    const vendor = { logoutPth: '/a', mfaOTPGrantType: 'b', somethingElse: 'c', 'a b\n': 'd', logoutPath: '' }
    const { config, problems } = resolve({ ...complete, vendor } as IdpClientOptions, {})
    expect(problems.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
      'notice: vendor.logoutPth is not a known option and has no effect. Did you mean vendor.logoutPath?',
      'notice: vendor.mfaOTPGrantType is not a known option and has no effect. Did you mean vendor.mfaOtpGrantType?',
      'notice: vendor.somethingElse is not a known option and has no effect.',
      'notice: A key in vendor is not a known option and has no effect.',
    ])
    expect(config?.vendor).toEqual({ ...vendorValues, logoutPath: '' })
  })
})

describe('[E4] sessionLockTimeout', () => {
  test.each([
    [{}, 15_000],
    [{ httpTimeout: 250 }, 15_000],
    [{ httpTimeout: 5000 }, 15_000],
    [{ httpTimeout: 5001 }, 15_002],
    [{ httpTimeout: 30_000 }, 65_000],
    [{ sessionLockTimeout: 20_000 }, 20_000],
    [{ sessionLockTimeout: 20_000, httpTimeout: 250 }, 20_000],
    [{ sessionLockTimeout: 5500, httpTimeout: 250 }, 5500],
  ])('%j is %i ms', (options, expected) => {
    const { config, problems } = resolve({ ...complete, ...options }, {})
    expect(problems).toEqual([])
    expect(config?.sessionLockTimeout).toBe(expected)
  })

  test('a timeout that is shorter than a refresh is used, and reported', () => {
    const { config, problems } = resolve({ ...complete, sessionLockTimeout: 14_999 }, {})
    expect(config?.sessionLockTimeout).toBe(14_999)
    expect(problems).toEqual([
      { kind: 'notice', message: expect.stringMatching(/^sessionLockTimeout is too short: .* 15000 ms/) },
    ])
  })

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '15000', 2 ** 31])('%j is rejected', (value) => {
    expect(kindsOf({ ...complete, sessionLockTimeout: value as number })).toEqual(['wrong-option'])
  })
})

describe('missing or invalid options', () => {
  test('[S249,S250,S251,S252,S254] without any option four are reported as missing, and nothing throws', () => {
    const { config, settings, problems } = resolve({}, {})
    expect(config).toBeNull()
    expect(new Set(problems.map(({ kind }) => kind))).toEqual(new Set(['missing']))
    expect(problems.map(({ message }) => message.split(' ')[0])).toEqual([
      'None',
      'domain',
      'clientId',
      'secret',
      'clientSecret',
    ])
    expect(settings.routes.login).toBe('/auth/login')
  })

  test.each(['domain', 'clientId', 'clientSecret', 'secret'] as const)(
    'without %s there is no config',
    (key) => {
      const { config, problems } = resolve({ ...complete, [key]: undefined }, {})
      expect(config).toBeNull()
      expect(problems).toMatchObject([
        { kind: 'missing', message: expect.stringMatching(`^${key} is missing`) },
      ])
    },
  )

  test('[S255] appBaseUrl may be missing', () => {
    const { config, problems } = resolve({ ...complete, appBaseUrl: undefined }, {})
    expect(problems).toEqual([])
    expect(config?.appBaseUrl).toEqual({ kind: 'inferred' })
  })

  test('[N8] if nothing required is set, the first sentence asks for the file', () => {
    const ask = /^None of the required variables is set: was the file that sets them \(\.env\) loaded\?/
    expect(resolve({ appBaseUrl: 'https://app.example.com' }, {}).problems[0]?.message).toMatch(ask)
    for (const problems of [
      resolve({}, { IDP_CLIENT_ID: 'client-1' }).problems,
      resolve({ clientId: 'client-1' }, {}).problems,
    ])
      for (const { message } of problems) expect(message).not.toMatch(ask)
  })

  test('invalid options are also found if another one is missing', () => {
    expect(kindsOf({ clientId: 'client-1', logoutStrategy: 'both' as 'auto' })).toEqual([
      'missing',
      'missing',
      'missing',
      'wrong-option',
    ])
  })

  test.each([
    [{ logoutStrategy: 'OIDC' }, 'logoutStrategy'],
    [{ httpTimeout: 0 }, 'httpTimeout'],
    [{ httpTimeout: Number.POSITIVE_INFINITY }, 'httpTimeout'],
    [{ tokenRefreshBuffer: -1 }, 'tokenRefreshBuffer'],
    [{ tokenRefreshBuffer: Number.NaN }, 'tokenRefreshBuffer'],
    [{ mfaTokenTtl: '300' }, 'mfaTokenTtl'],
    [{ signInReturnToPath: 'https://evil.example/' }, 'signInReturnToPath'],
    [{ signInReturnToPath: '//evil.example' }, 'signInReturnToPath'],
    [{ signInReturnToPath: '/\\evil.example' }, 'signInReturnToPath'],
    [{ signInReturnToPath: '/\t/evil.example' }, 'signInReturnToPath'],
    [{ signInReturnToPath: '/.//evil.example' }, 'signInReturnToPath'],
    [{ signInReturnToPath: 'home' }, 'signInReturnToPath'],
    [{ enableTelemetry: 'no' }, 'enableTelemetry'],
    [{ enableAccessTokenEndpoint: 'no' }, 'enableAccessTokenEndpoint'],
    [{ enableConnectAccountEndpoint: 0 }, 'enableConnectAccountEndpoint'],
    [
      { includeIdTokenHintInOIDCLogoutUrl: null, pushedAuthorizationRequests: 1 },
      'pushedAuthorizationRequests',
    ],
    [{ revokeRefreshTokenAtLogout: 'no' }, 'revokeRefreshTokenAtLogout'],
    [{ noContentProfileResponseWhenUnauthenticated: 204 }, 'noContentProfileResponseWhenUnauthenticated'],
    [{ trustProxy: 1 }, 'trustProxy'],
    [{ fetchUserInfo: 'yes' }, 'fetchUserInfo'],
    [{ processLasts: 'no' }, 'processLasts'],
    [{ processLasts: 0 }, 'processLasts'],
    [{ onCallback: {} }, 'onCallback'],
    [{ beforeSessionSaved: 'hook' }, 'beforeSessionSaved'],
    [{ logger: console }, 'logger'],
    [{ vendor: { x: 1 } }, 'vendor'],
    [{ clientId: 7 }, 'clientId'],
    [{ [customFetch]: 'fetch' }, '[customFetch]'],
    [{ [customClock]: 7 }, '[customClock]'],
  ])('%j is rejected', (wrong, name) => {
    const { config, problems } = resolve({ ...complete, ...(wrong as IdpClientOptions) }, {})
    expect(config).toBeNull()
    expect(problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(problems[0]?.message.startsWith(`${name} `)).toBe(true)
  })

  test('options that are not an object are rejected', () => {
    for (const options of ['x', 7, []]) {
      expect(kindsOf(options as never)).toContain('wrong-option')
    }
    expect(kindsOf(null as never)).not.toContain('wrong-option')
  })

  test('missing or invalid DPoP keys prevent a config', () => {
    expect(kindsOf({ ...complete, useDPoP: true })).toEqual(['missing'])
    const env = { IDP_DPOP_PUBLIC_KEY: 'x', IDP_DPOP_PRIVATE_KEY: 'y' }
    expect(resolve({ ...complete, useDPoP: true }, env)).toMatchObject({
      config: null,
      problems: [{ kind: 'wrong-variable' }, { kind: 'wrong-variable' }],
    })
  })

  test('a signing key that cannot be used is a configuration error', () => {
    expect(resolve(complete, { IDP_CLIENT_ASSERTION_SIGNING_KEY: 'x' }).config).toBeNull()
  })

  test('[S239,S246,S247] an inferred base URL in production requires Secure', () => {
    const options = { ...complete, appBaseUrl: undefined }
    const env = { NODE_ENV: 'production' }
    const { config } = resolve(options, env)
    expect([config?.session.cookie.secure, config?.transaction.cookie.secure]).toEqual([true, true])
    expect(kindsOf({ ...options, session: { cookie: { secure: false } } }, env)).toEqual(['wrong-option'])
    expect(kindsOf({ ...options, transactionCookie: { secure: false } }, env)).toEqual(['wrong-option'])
    expect(kindsOf(options, { ...env, IDP_COOKIE_SECURE: 'false' })).toEqual(['wrong-variable'])
    expect(kindsOf(options, { IDP_COOKIE_SECURE: 'false' })).toEqual([])
  })

  test('[S151] a base path together with a path in the base URL is rejected', () => {
    const options = { ...complete, appBaseUrl: 'https://app.example.com/docs' }
    expect(kindsOf(options, { FRAMEWORK_PUBLIC_BASE_PATH: '/docs' })).toEqual(['wrong-option'])
    expect(kindsOf(options, { NEXT_PUBLIC_BASE_PATH: '/docs' })).toEqual(['wrong-option'])
  })

  test("[S076,S095] option names of the specification's examples have no effect", () => {
    const options = {
      session: { rollingDuration: 1 },
      transactionCookie: { duration: 600 },
    } as IdpClientOptions
    expect(configOf(options)).toMatchObject({
      session: { inactivityDuration: 86_400 },
      transaction: { cookie: { maxAge: 3600 } },
    })
    expect(kindsOf({ ...complete, ...options })).toEqual(['notice', 'notice'])
  })
})

describe('any input', () => {
  const anyOptions = fc.dictionary(
    fc.constantFrom(...optionPaths.filter((path) => !path.includes('.'))),
    fc.anything(),
  )
  const anyEnv = fc.dictionary(fc.constantFrom(...variableNames), fc.string())

  test('never throws, and gives a config exactly if all issues are notices', () => {
    fc.assert(
      fc.property(anyOptions, anyEnv, (options, env) => {
        const { config, problems } = resolve({ ...complete, ...options } as IdpClientOptions, env as Env)
        expect(config === null).toBe(problems.some(({ kind }) => kind !== 'notice'))
      }),
    )
  })

  test('no message repeats a value', () => {
    const marked = fc.string({ minLength: 0, maxLength: 8 }).map((text) => `\u00a7${text}`)
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...optionPaths.filter((path) => !path.includes('.'))), marked),
        fc.dictionary(fc.constantFrom(...variableNames), marked),
        (options, env) => {
          const { problems } = resolve(options as IdpClientOptions, env as Env)
          expect(problems.filter(({ message }) => message.includes('\u00a7'))).toEqual([])
        },
      ),
    )
  })
})
