import { describe, expect, test } from 'vitest'
import type { Problem, RouteKey } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions, RoutesOptions } from './options.ts'
import { resolveBasePath, resolveRoutes } from './routes.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}, basePath = '') {
  const problems: Problem[] = []
  const table = resolveRoutes(
    { options, env, addIssue: (kind, message) => problems.push({ kind, message }) },
    basePath,
    true,
  )
  return { ...table, problems }
}

function basePath(env: Env) {
  const problems: Problem[] = []
  const path = resolveBasePath({
    options: {},
    env,
    addIssue: (kind, message) => problems.push({ kind, message }),
  })
  return { path, problems }
}

const defaults: readonly (readonly [string, RouteKey, string])[] = [
  ['[S138] ', 'login', '/auth/login'],
  ['[S140] ', 'logout', '/auth/logout'],
  ['[S141] ', 'callback', '/auth/callback'],
  ['[S142] ', 'profile', '/auth/profile'],
  ['[S144] ', 'accessToken', '/auth/access-token'],
  ['[S146] ', 'connectAccount', '/auth/connect'],
  ['[S147] ', 'backChannelLogout', '/auth/backchannel-logout'],
  ['', 'frontChannelLogout', '/auth/frontchannel-logout'],
  ['', 'mfaAuthenticators', '/auth/mfa/authenticators'],
  ['', 'mfaChallenge', '/auth/mfa/challenge'],
  ['', 'mfaAssociate', '/auth/mfa/associate'],
  ['', 'mfaVerify', '/auth/mfa/verify'],
]

describe('paths', () => {
  test.each(defaults)('%sroutes.%s is %s by default, and the key changes it', (_row, key, path) => {
    expect(resolveIt({}).routes[key]).toBe(path)
    const changed = resolveIt({ routes: { [key]: '/other/path' } })
    expect(changed.routes[key]).toBe('/other/path')
    expect(changed.problems).toEqual([])
  })

  test.each([
    ['[S139] ', 'login', 'FRAMEWORK_PUBLIC_LOGIN_ROUTE'],
    ['[S143] ', 'profile', 'FRAMEWORK_PUBLIC_PROFILE_ROUTE'],
    ['[S145] ', 'accessToken', 'FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE'],
    ['', 'mfaAuthenticators', 'FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE'],
    ['', 'mfaChallenge', 'FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE'],
    ['', 'mfaAssociate', 'FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE'],
    ['', 'mfaVerify', 'FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE'],
  ] as const)('%sroutes.%s has the variable %s; the option overrides it', (_row, key, variable) => {
    expect(resolveIt({}, { [variable]: '/by/variable' }).routes[key]).toBe('/by/variable')
    expect(resolveIt({ routes: { [key]: '/by/option' } }, { [variable]: '/by/variable' }).routes[key]).toBe(
      '/by/option',
    )
  })

  test('the variable of the host is used, and must not differ', () => {
    expect(resolveIt({}, { NEXT_PUBLIC_LOGIN_ROUTE: '/n' })).toMatchObject({
      routes: { login: '/n' },
      problems: [],
    })
    const both = { NEXT_PUBLIC_LOGIN_ROUTE: '/n', FRAMEWORK_PUBLIC_LOGIN_ROUTE: '/n' }
    expect(resolveIt({}, both).problems).toEqual([])
    const different = { ...both, FRAMEWORK_PUBLIC_LOGIN_ROUTE: '/f' }
    expect(resolveIt({}, different)).toMatchObject({
      problems: [
        {
          kind: 'wrong-variable',
          message: expect.stringMatching(/FRAMEWORK_PUBLIC_LOGIN_ROUTE and NEXT_PUBLIC_LOGIN_ROUTE/),
        },
      ],
    })
    expect(resolveIt({ routes: { login: '/o' } }, different).problems).toEqual([])
  })

  test.each([
    ['auth/in', '/auth/in'],
    ['/auth/in/', '/auth/in'],
    ['/anmelden/ü', '/anmelden/%C3%BC'],
    ['/a.b/c', '/a.b/c'],
  ])('%s is mounted as %s', (written, mounted) => {
    expect(resolveIt({ routes: { login: written } })).toMatchObject({
      routes: { login: mounted },
      problems: [],
    })
  })

  test.each([
    '/',
    '//evil.example/x',
    'https://evil.example/login',
    'javascript:alert(1)',
    '/auth/login?x=1',
    '/auth/login#x',
    '/auth/../login',
    '/auth/./login',
    '/auth/%2e%2e/login',
    '/auth%2flogin',
    '/auth\\login',
    '/auth//login',
    '/auth login',
    '/auth\u0000login',
    7,
    {},
  ])('rejects %j', (path) => {
    const { routes, problems } = resolveIt({ routes: { login: path as string } })
    expect(routes.login).toBe('/auth/login')
    expect(problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringMatching(/^routes\.login must/) },
    ])
  })

  test('an invalid variable is reported as a variable', () => {
    expect(resolveIt({}, { FRAMEWORK_PUBLIC_LOGIN_ROUTE: 'https://x.example/' }).problems).toMatchObject([
      {
        kind: 'wrong-variable',
        message: expect.stringMatching(/^FRAMEWORK_PUBLIC_LOGIN_ROUTE must be a path/),
      },
    ])
  })

  test('two routes cannot have the same path', () => {
    expect(resolveIt({ routes: { login: '/auth/logout' } }).problems).toEqual([
      {
        kind: 'wrong-option',
        message: 'routes.login and routes.logout name the same path; every route needs its own.',
      },
    ])
    expect(resolveIt({}, { FRAMEWORK_PUBLIC_LOGIN_ROUTE: '/auth/callback' }).problems).toMatchObject([
      {
        kind: 'wrong-variable',
        message: expect.stringMatching(/^FRAMEWORK_PUBLIC_LOGIN_ROUTE and routes\.callback/),
      },
    ])
  })

  test('a disabled route reserves no path', () => {
    const routes: RoutesOptions = { login: '/auth/connect', logout: '/auth/access-token' }
    expect(resolveIt({ routes, enableAccessTokenEndpoint: false }).problems).toEqual([])
  })

  test('a route that already contains the base path is reported', () => {
    const { problems } = resolveIt({ routes: { login: '/docs/login' } }, {}, '/docs')
    expect(problems).toMatchObject([
      { kind: 'notice', message: expect.stringMatching(/^routes\.login begins/) },
    ])
    expect(resolveIt({}, {}, '/auth').problems).toEqual([])
  })
})

describe('mounted routes', () => {
  test('[S064,S144] the access-token route is mounted by default', () => {
    expect(resolveIt({}).disabledRoutes.has('accessToken')).toBe(false)
    expect(resolveIt({ enableAccessTokenEndpoint: true }).disabledRoutes.has('accessToken')).toBe(false)
  })

  test('[S065] the access-token route is not mounted with enableAccessTokenEndpoint: false', () => {
    expect(resolveIt({ enableAccessTokenEndpoint: false }).disabledRoutes.has('accessToken')).toBe(true)
  })

  test('the route with the public keys is mounted only with enableJwksEndpoint', () => {
    expect(resolveIt({}).disabledRoutes.has('jwks')).toBe(true)
    expect(resolveIt({ enableJwksEndpoint: true }).disabledRoutes.has('jwks')).toBe(false)
  })

  test('the connect-account route is mounted only with enableConnectAccountEndpoint', () => {
    expect(resolveIt({}).disabledRoutes.has('connectAccount')).toBe(true)
    expect(resolveIt({ enableConnectAccountEndpoint: true }).disabledRoutes.has('connectAccount')).toBe(false)
  })

  test('the front-channel logout route is mounted only with frontChannelLogout', () => {
    expect(resolveIt({ frontChannelLogout: false }).disabledRoutes.has('frontChannelLogout')).toBe(true)
    expect(resolveIt({ frontChannelLogout: true }).disabledRoutes.has('frontChannelLogout')).toBe(false)
    expect(resolveIt({ frontChannelLogout: {} }).disabledRoutes.has('frontChannelLogout')).toBe(false)
  })

  test('[S138,S140,S141,S142,S147] all other routes are always mounted', () => {
    const { disabledRoutes } = resolveIt({ enableAccessTokenEndpoint: false })
    expect([...disabledRoutes]).toEqual(['accessToken', 'connectAccount', 'jwks', 'frontChannelLogout'])
  })
})

describe('base path', () => {
  test.each([
    [undefined, ''],
    ['/', ''],
    ['/docs', '/docs'],
    ['docs', '/docs'],
    ['/docs/', '/docs'],
    ['/docs/v1', '/docs/v1'],
  ])('[S150] %s becomes %j', (value, path) => {
    expect(basePath({ FRAMEWORK_PUBLIC_BASE_PATH: value })).toEqual({ path, problems: [] })
  })

  test('the variable of the host is used', () => {
    expect(basePath({ NEXT_PUBLIC_BASE_PATH: '/docs' })).toEqual({ path: '/docs', problems: [] })
    expect(
      basePath({ NEXT_PUBLIC_BASE_PATH: '/docs', FRAMEWORK_PUBLIC_BASE_PATH: '/other' }).problems,
    ).toHaveLength(1)
  })

  test.each(['https://evil.example/docs', '//evil.example', '/docs?x', '/a/../b', '/a b'])(
    'rejects %s',
    (value) => {
      expect(basePath({ FRAMEWORK_PUBLIC_BASE_PATH: value })).toMatchObject({
        path: '',
        problems: [
          {
            kind: 'wrong-variable',
            message: expect.stringMatching(/^FRAMEWORK_PUBLIC_BASE_PATH must be a path/),
          },
        ],
      })
    },
  )
})
