import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserError } from '../browser/request-error.ts'
import * as entry from './index.ts'

type Errors = typeof entry

const folder = mkdtempSync(join(tmpdir(), 'idp-errors-'))

/**
 * One more copy of the package, as an application that bundles it twice has it: minified, class names included, and with
 * assignments in place of class fields, as Next compiles Server Actions.
 */
async function copy(name: string): Promise<Errors> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./index.ts', import.meta.url))],
    bundle: true,
    minify: true,
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    format: 'esm',
    write: false,
  })
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, outputFiles.map(({ text }) => text).join(''))
  return import(/* @vite-ignore */ pathToFileURL(file).href)
}

let one: Errors
let other: Errors

beforeAll(async () => {
  one = await copy('one')
  other = await copy('other')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One error of every exported class of a copy, by the name of the class. */
function errorsOf(errors: Errors): Record<string, Error> {
  return {
    AccessTokenError: new errors.AccessTokenError('MISSING_SESSION'),
    AccessTokenForConnectionError: new errors.AccessTokenForConnectionError('MISSING_SESSION'),
    AccountApiError: new errors.AccountApiError({ providerStatus: 400 }),
    BackchannelAuthenticationError: new errors.BackchannelAuthenticationError('INVALID_BACKCHANNEL_REQUEST'),
    CallbackError: new errors.CallbackError('MISSING_STATE'),
    ConnectAccountError: new errors.ConnectAccountError('MISSING_SESSION'),
    ConnectedAccountsError: new errors.ConnectedAccountsError('MISSING_SESSION'),
    CustomTokenExchangeError: new errors.CustomTokenExchangeError('EXCHANGE_FAILED'),
    DiscoveryError: new errors.DiscoveryError('DISCOVERY_ERROR'),
    IdpError: new errors.IdpError('INTERNAL_ERROR'),
    InvalidConfigurationError: new errors.InvalidConfigurationError('INVALID_CONFIGURATION'),
    LogoutTokenError: new errors.LogoutTokenError('BACKCHANNEL_LOGOUT_ERROR'),
    MfaError: new errors.MfaError('MISSING_SESSION'),
    MfaRequiredError: new errors.MfaRequiredError({ mfaToken: 'sealed' }),
    OAuthError: new errors.OAuthError('OAUTH_ERROR'),
    SessionStoreError: new errors.SessionStoreError('SESSION_STORE_FAILED'),
  }
}

/** Names of the exported classes of one copy that an error is an instance of. */
function classesOf(errors: Errors, error: unknown): string[] {
  return Object.entries(errors).flatMap(([name, value]) =>
    name.endsWith('Error') && typeof value === 'function' && error instanceof value ? [name] : [],
  )
}

describe('instanceof of an exported class', () => {
  const names = Object.keys(errorsOf(entry))

  test('every exported class is tested here', () => {
    const exported = Object.keys(entry).filter((name) => /^[A-Z].*Error$/.test(name))
    expect(exported.sort()).toEqual([...names, 'isIdpError'].filter((name) => name !== 'isIdpError').sort())
  })

  test.each(names)('[G2] %s is recognized across two bundled copies, as that class and IdpError', (name) => {
    const expected = [...new Set(['IdpError', name])].sort()
    for (const [thrower, catcher] of [
      [one, one],
      [one, other],
      [other, one],
      [other, entry],
      [entry, one],
    ] as const) {
      expect(classesOf(catcher, errorsOf(thrower)[name]).sort()).toEqual(expected)
    }
  })

  test.each(['MfaRequiredError', 'AccessTokenError', 'MfaError', 'IdpError'])(
    '[G2] %s of the browser helpers is an instance, although no class is loaded there',
    (name) => {
      const error = browserError('MFA_REQUIRED', 'text', { name })
      for (const errors of [entry, one]) {
        expect(classesOf(errors, error).sort()).toEqual([...new Set(['IdpError', name])].sort())
      }
    },
  )

  test('[G2] a class of the application is recognized by its prototype chain', () => {
    class OrderError extends one.AccessTokenError {}
    class PaymentError extends one.AccessTokenError {}
    const error = new OrderError('MISSING_SESSION')
    expect(error).toBeInstanceOf(OrderError)
    expect(error).not.toBeInstanceOf(PaymentError)
    expect(new one.AccessTokenError('MISSING_SESSION')).not.toBeInstanceOf(OrderError)
    expect(browserError('MISSING_SESSION', 'text', { name: 'AccessTokenError' })).not.toBeInstanceOf(
      OrderError,
    )
    expect(classesOf(other, error).sort()).toEqual(['AccessTokenError', 'IdpError'])
  })

  test('[G2] a subclass with its own name keeps its class in other copies', () => {
    class OrderError extends one.AccessTokenError {
      override readonly name: 'AccessTokenError' = 'OrderError' as 'AccessTokenError'
    }
    expect(new OrderError('MISSING_SESSION').name).toBe('OrderError')
    expect(classesOf(other, new OrderError('MISSING_SESSION')).sort()).toEqual([
      'AccessTokenError',
      'IdpError',
    ])
  })

  test.each([
    undefined,
    null,
    'MFA_REQUIRED',
    new Error('x'),
    Object.assign(new Error('x'), { name: 'MfaRequiredError', code: 'MFA_REQUIRED' }),
    { name: 'IdpError' },
    () => 1,
  ])('%o is not an instance of any', (value) => {
    expect(classesOf(entry, value)).toEqual([])
  })
})
