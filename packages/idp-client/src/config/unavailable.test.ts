import { expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { noteUnavailable } from './unavailable.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}): Problem[] {
  const problems: Problem[] = []
  noteUnavailable(options, env, (kind, message) => {
    problems.push({ kind, message })
  })
  return problems
}

test.each([
  [{ sessionStore: { get: async () => null, set: async () => {}, delete: async () => {} } }, 'sessionStore'],
  [{ pushedAuthorizationRequests: true }, 'pushedAuthorizationRequests'],
  [{ useDPoP: true }, 'useDPoP'],
  [{ clientAssertionSigningKey: 'pem' }, 'clientAssertionSigningKey'],
  [{ enableConnectAccountEndpoint: true }, 'enableConnectAccountEndpoint'],
  [{ fetchUserInfo: true }, 'fetchUserInfo'],
] satisfies [IdpClientOptions, string][])('%j is refused while nothing acts on it', (options, name) => {
  expect(resolveIt(options)).toEqual([
    { kind: 'wrong-option', message: expect.stringMatching(`^${name}.*not available in this version`) },
  ])
})

test('their defaults are fine', () => {
  const options = {
    pushedAuthorizationRequests: false,
    useDPoP: false,
    enableConnectAccountEndpoint: false,
    fetchUserInfo: false,
    tokenRefreshBuffer: 0,
    sessionStore: undefined,
    clientAssertionSigningKey: '',
  }
  expect(resolveIt(options)).toEqual([])
})

test('a variable is reported as a variable, unless the option is set as well', () => {
  const env = { IDP_CLIENT_ASSERTION_SIGNING_KEY: 'pem' }
  expect(resolveIt({}, env)).toMatchObject([
    {
      kind: 'wrong-variable',
      message: expect.stringMatching(/^IDP_CLIENT_ASSERTION_SIGNING_KEY is not available/),
    },
  ])
  expect(resolveIt({ clientAssertionSigningKey: 'pem' }, env)).toMatchObject([{ kind: 'wrong-option' }])
})
