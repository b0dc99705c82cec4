import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import * as express from '../../src/adapters/express/index.ts'
import * as next from '../../src/adapters/next/index.ts'
import { variableNames } from '../../src/config/env.ts'
import type {
  AccessTokenFactory,
  AuthorizationParameters,
  BeforeSessionSavedHook,
  ConnectAccountOptions,
  ConnectedAccount,
  DpopKeyPair,
  DpopOptions,
  Fetcher,
  GetAccessTokenOptions,
  IdpClientOptions,
  LogoutToken,
  OnCallbackContext,
  OnCallbackHook,
  RoutesOptions,
  ServerMfaClient,
  SessionConfiguration,
  SessionCookieOptions,
  SessionData,
  SessionDataStore,
  StartInteractiveLoginOptions,
  TokenSet,
  TransactionCookieOptions,
  User,
} from '../../src/index.ts'
import * as web from '../../src/index.ts'
import * as react from '../../src/react/index.ts'
import * as testing from '../../src/testing/index.ts'

/** Two words of the web that every host has, and the variable that says "production". */
const common = new Set(['APP_BASE_URL', 'NODE_ENV'])

/** Variables whose names the contract gives without a prefix of the provider. */
const given = new Set(['IDP_RETRY_DELAY', 'IDP_RETRY_JITTER'])

test('[S004] variables begin with IDP_ for the provider and FRAMEWORK_PUBLIC_ (or the host) for the routes', () => {
  for (const name of variableNames) {
    if (common.has(name)) continue
    expect(name).toMatch(/^(?:IDP|FRAMEWORK_PUBLIC|NEXT_PUBLIC)_[A-Z_]+$/)
  }
  for (const name of given) expect(variableNames).toContain(name)
  const ours = variableNames.filter((name) => name.startsWith('FRAMEWORK_PUBLIC_'))
  const hosts = variableNames.filter((name) => name.startsWith('NEXT_PUBLIC_'))
  expect(hosts).toEqual(ours.map((name) => name.replace('FRAMEWORK_', 'NEXT_')))
})

test('[S006] IdpClient has the operations of the contract and the property mfa, on every host', () => {
  const operations = [
    'middleware',
    'getSession',
    'getAccessToken',
    'getAccessTokenForConnection',
    'customTokenExchange',
    'updateSession',
    'startInteractiveLogin',
    'getTokenByBackchannelAuth',
    'refreshTokens',
    'jwks',
    'connectAccount',
    'createFetcher',
    'check',
    'withPageAuthRequired',
    'withApiAuthRequired',
  ] as const
  for (const { IdpClient } of [web, next, express]) {
    const idp = new IdpClient({ logger: () => {} })
    for (const name of operations) expect(idp[name]).toBeTypeOf('function')
    for (const name of ['getAuthenticators', 'challenge', 'verify'] as const) {
      expect(idp.mfa[name]).toBeTypeOf('function')
    }
  }
})

test('[S004] every host entry exports IdpClient, and no name of a maker', () => {
  for (const entry of [web, next, express]) expect(entry).toHaveProperty('IdpClient')
  expect(react).toHaveProperty('IdpProvider')
  const names = [web, next, express, react, testing].flatMap((entry) => Object.keys(entry))
  for (const name of names) expect(name).not.toMatch(/auth0|okta|clerk|workos|nextauth/i)
  // Names after the provider contain Idp, names of failures Error.
  const classes = names.filter((name) => /^[A-Z][a-z]/.test(name))
  for (const name of classes) expect(name).toMatch(/Idp|Error|ContractViolation/)
})

/** Returns the modules beyond those of hosts that an entry re-exports, by their path. */
function sharedModules(entry: string): string[] {
  const file = new URL(entry, import.meta.url)
  const exported = readFileSync(file, 'utf8').matchAll(/export (?:type )?(?:\*|\{[^}]*\}) from '([^']+)'/g)
  const paths = [...exported].map(([, from = '']) => new URL(from, file).pathname.replace(/.*\/src\//, ''))
  return paths.filter((path) => !path.startsWith('adapters/'))
}

test('every host entry has the same names beside those of the host: public.ts lists them once', () => {
  const entries = ['index.ts', 'adapters/next/index.ts', 'adapters/express/index.ts']
  // `User` again by its name, so that augmentations of two hosts add up (decision 18).
  const shared = ['public.ts', 'session/model/session-data.ts']
  for (const entry of entries) expect(sharedModules(`../../src/${entry}`)).toEqual(shared)
  expect(sharedModules('../../src/public.ts').length).toBeGreaterThan(20)
  const ofHosts = new Set(['continueWith', 'isContinue', 'sendResponse'])
  const [values, ...more] = [web, next, express].map((entry) =>
    Object.keys(entry)
      .filter((name) => !ofHosts.has(name))
      .sort(),
  )
  for (const entry of more) expect(entry).toEqual(values)
})

test('the types of the contract are exported under its names', () => {
  type Contract = [
    AccessTokenFactory,
    AuthorizationParameters,
    BeforeSessionSavedHook,
    ConnectAccountOptions,
    ConnectedAccount,
    DpopKeyPair,
    DpopOptions,
    Fetcher,
    GetAccessTokenOptions,
    IdpClientOptions,
    LogoutToken,
    OnCallbackContext,
    OnCallbackHook,
    RoutesOptions,
    ServerMfaClient,
    SessionConfiguration,
    SessionCookieOptions,
    SessionData,
    SessionDataStore,
    StartInteractiveLoginOptions,
    TokenSet,
    TransactionCookieOptions,
    User,
  ]
  expectTypeOf<Contract>().toBeArray()
  expectTypeOf<Required<LogoutToken>>().toEqualTypeOf<{
    sub: string
    sid: string
    iss: string
    iat: number
  }>()
  type Demanded = {
    [Member in keyof SessionDataStore]-?: undefined extends SessionDataStore[Member] ? never : Member
  }
  expectTypeOf<Demanded[keyof SessionDataStore]>().toEqualTypeOf<'get' | 'set' | 'delete'>()
})
