import { expect, test } from 'vitest'
import { toRequestFingerprint } from './guard-login.ts'

const SCOPE = 'openid email offline_access'

const parametersOf = (given: Record<string, string>) => ({
  parameters: new Map(Object.entries({ scope: SCOPE, ...given })),
})

const requestedAuthentication = (sent: Record<string, string>, configured: Record<string, string> = {}) =>
  toRequestFingerprint(parametersOf(sent), parametersOf(configured))

test('the same parameters have the same fingerprint, whatever other parameters are sent', async () => {
  const fingerprint = await requestedAuthentication({ max_age: '300', acr_values: 'a b', ui_locales: 'de' })
  expect(fingerprint).toMatch(/^[\w-]{8}$/)
  expect(await requestedAuthentication({ prompt: 'login', acr_values: 'a b', max_age: '300' })).toBe(
    fingerprint,
  )
})

test('different parameters have different fingerprints', async () => {
  const fingerprints = await Promise.all([
    requestedAuthentication({ max_age: '1' }),
    requestedAuthentication({ acr_values: '1' }),
    requestedAuthentication({ organization: '1' }),
    requestedAuthentication({ scope: 'openid 1' }),
    requestedAuthentication({ max_age: '1', scope: 'openid 1' }),
  ])
  expect(new Set(fingerprints).size).toBe(5)
})

test('the scope is compared as a set, and offline_access is ignored', async () => {
  const fingerprint = await requestedAuthentication({ scope: 'openid a b' })
  expect(await requestedAuthentication({ scope: 'b openid offline_access a a' })).toBe(fingerprint)
})

test('a scope of the application differs from a configured one', async () => {
  const scope = 'openid a b'
  const own = (ownScope: string) =>
    toRequestFingerprint({ ...parametersOf({ scope }), ownScope }, parametersOf({}))
  expect(await own('b a')).toBe(await own('a b'))
  expect(
    new Set([await own('a b'), await own('a'), await own(''), await requestedAuthentication({})]).size,
  ).toBe(4)
  expect(await own('')).toBe(await requestedAuthentication({ scope }))
  // The scope of another audience may be that of the configured one.
  const configured = parametersOf({})
  expect(await toRequestFingerprint({ ...configured, ownScope: 'email' }, configured)).toMatch(/./)
})

test('a default login has no fingerprint', async () => {
  expect(await requestedAuthentication({ prompt: 'login' })).toBeUndefined()
  expect(await requestedAuthentication({ scope: 'email openid' })).toBeUndefined()
  const configured = { organization: 'org_1', max_age: '60' }
  expect(await requestedAuthentication(configured, configured)).toBeUndefined()
  expect(await requestedAuthentication({}, configured)).toMatch(/./)
})
