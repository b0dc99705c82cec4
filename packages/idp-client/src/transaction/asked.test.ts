import { expect, test } from 'vitest'
import { askedFor } from './asked.ts'

const SCOPE = 'openid email offline_access'

const parametersOf = (given: Record<string, string>) => ({
  parameters: new Map(Object.entries({ scope: SCOPE, ...given })),
})

const asked = (sent: Record<string, string>, configured: Record<string, string> = {}) =>
  askedFor(parametersOf(sent), parametersOf(configured))

test('the same parameters have the same fingerprint, whatever else is sent', async () => {
  const fingerprint = await asked({ max_age: '300', acr_values: 'a b', ui_locales: 'de' })
  expect(fingerprint).toMatch(/^[\w-]{8}$/)
  expect(await asked({ prompt: 'login', acr_values: 'a b', max_age: '300' })).toBe(fingerprint)
})

test('others have others', async () => {
  const fingerprints = await Promise.all([
    asked({ max_age: '1' }),
    asked({ acr_values: '1' }),
    asked({ organization: '1' }),
    asked({ scope: 'openid 1' }),
    asked({ max_age: '1', scope: 'openid 1' }),
  ])
  expect(new Set(fingerprints).size).toBe(5)
})

test('a scope is a set, and offline_access is left to the provider', async () => {
  const fingerprint = await asked({ scope: 'openid a b' })
  expect(await asked({ scope: 'b openid offline_access a a' })).toBe(fingerprint)
})

test('whose scope it is makes a difference', async () => {
  const scope = 'openid a b'
  const own = (ownScope: string) => askedFor({ ...parametersOf({ scope }), ownScope }, parametersOf({}))
  expect(await own('b a')).toBe(await own('a b'))
  expect(new Set([await own('a b'), await own('a'), await own(''), await asked({})]).size).toBe(4)
  expect(await own('')).toBe(await asked({ scope }))
})

test('what every login sends has none', async () => {
  expect(await asked({ prompt: 'login' })).toBeUndefined()
  expect(await asked({ scope: 'email openid' })).toBeUndefined()
  const configured = { organization: 'org_1', max_age: '60' }
  expect(await asked(configured, configured)).toBeUndefined()
  expect(await asked({}, configured)).toMatch(/./)
})
