import { expect, test } from 'vitest'
import { SECRET } from '../../test/support/engine.ts'
import { createSealer } from '../crypto/seal.ts'
import { utf8 } from '../lib/utf8.ts'
import { openGuardParameters, sealGuardParameters, toRequestFingerprint } from './guard-login.ts'

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
    requestedAuthentication({ acr_values: '1 2' }),
    // The first one is preferred.
    requestedAuthentication({ acr_values: '2 1' }),
    requestedAuthentication({ organization: '1' }),
    requestedAuthentication({ scope: 'openid 1' }),
    requestedAuthentication({ max_age: '1', scope: 'openid 1' }),
  ])
  expect(new Set(fingerprints).size).toBe(7)
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

test('requirements of a guard are opened for 10 minutes, by the client that sealed them', async () => {
  const now = 1_800_000_000
  const parts = (time = now, tag = 'client') => ({
    config: { clock: () => time },
    sealer: createSealer([SECRET]),
    clientTag: () => tag,
  })
  const required = { max_age: '300', acr_values: 'urn:gold' }
  const sealed = await sealGuardParameters(parts(), required)
  expect(await openGuardParameters(parts(now + 599), sealed)).toEqual(required)
  expect(await openGuardParameters(parts(now + 600), sealed)).toBeNull()
  expect(await openGuardParameters(parts(now, 'other'), sealed)).toBeNull()
  const content = { v: 1, i: now, c: 'client', p: required }
  const open = async (changes: object) => {
    const json = utf8(JSON.stringify({ ...content, ...changes }))
    return openGuardParameters(parts(), await parts().sealer.seal('guard', json))
  }
  expect(await open({})).toEqual(required)
  for (const changes of [{ v: 2 }, { i: undefined }, { c: undefined }]) expect(await open(changes)).toBeNull()
})
