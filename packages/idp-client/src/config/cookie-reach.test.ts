import { expect, test } from 'vitest'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { resolve } from './resolve.ts'

const complete = {
  domain: 'idp.example.com',
  clientId: 'client',
  clientSecret: 'client-secret',
  secret: '0123456789abcdef'.repeat(4),
}
const app = 'https://app.example.com'

function messages(options: IdpClientOptions, env: Env = {}): string[] {
  const { config, problems } = resolve({ appBaseUrl: app, ...complete, ...options }, env)
  expect(config).not.toBeNull()
  return problems.map(({ kind, message }) => `${kind}: ${message}`)
}

const cookie = (path: string): IdpClientOptions => ({ session: { cookie: { path } } })

test.each<[string, IdpClientOptions, Env]>([
  ['the default', {}, {}],
  ['the folder of the routes', cookie('/auth'), {}],
  ['the same with a slash', cookie('/auth/'), {}],
  ['below a base path', cookie('/shop'), { FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }],
  ['the routes below a base path', cookie('/shop/auth'), { FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }],
  ['a base URL with a path', { ...cookie('/shop'), appBaseUrl: `${app}/shop` }, {}],
  [
    'routes of its own',
    { ...cookie('/a'), routes: { login: '/a/in', callback: '/a/b', logout: '/a/out' } },
    {},
  ],
  ['a base URL that only requests tell', { ...cookie('/auth'), appBaseUrl: undefined }, {}],
])('cookies reach the routes: %s', (_, options, env) => {
  expect(messages(options, env)).toEqual([])
})

test.each<[string, IdpClientOptions, Env]>([
  ['login', cookie('/account'), {}],
  ['login', cookie('/aut'), {}],
  ['login', cookie('/auth'), { FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }],
  ['login', { ...cookie('/shop'), appBaseUrl: [`${app}/shop`, 'https://other.example.com'] }, {}],
  ['login', cookie('/auth/logout'), {}],
  ['logout', { ...cookie('/auth'), routes: { logout: '/bye' } }, {}],
])('a path that keeps cookies from the %s route is reported', (route, options, env) => {
  const what = 'session.cookie.path does not contain'
  expect(messages(options, env)).toEqual([expect.stringContaining(`notice: ${what} the ${route} route`)])
})

test('a path of transactionCookie that does not contain the login route is reported', () => {
  expect(messages({ transactionCookie: { path: '/auth/callback' } })).toEqual([
    expect.stringContaining('notice: transactionCookie.path does not contain the login route'),
  ])
})
