import { expect, test } from 'vitest'
import {
  CONFIGURED_ONLY_PARAMETERS,
  mayConfigurationSet,
  mayQuerySet,
  newCodeVerifier,
  OWNED_PARAMETERS,
  toCodeChallenge,
} from './authorize.ts'

test('protocol parameters cannot be set by the application', () => {
  const never = ['client_id', 'response_type', 'code_challenge', 'code_challenge_method', 'state', 'nonce']
  expect([...OWNED_PARAMETERS].sort()).toEqual([...never].sort())
  for (const name of [...never, 'client_secret', 'client_assertion', 'client_anything']) {
    expect([mayQuerySet(name), mayConfigurationSet(name)]).toEqual([false, false])
  }
})

test('parameters that only the application may set are not read from a query', () => {
  const configured = [
    'redirect_uri',
    'response_mode',
    'request',
    'request_uri',
    'dpop_jkt',
    'resource',
    'claims',
    'authorization_details',
    'registration',
    'id_token_hint',
    'target_link_uri',
  ]
  expect([...CONFIGURED_ONLY_PARAMETERS].sort()).toEqual([...configured].sort())
  for (const name of configured) expect([mayQuerySet(name), mayConfigurationSet(name)]).toEqual([false, true])
})

test('[S103] all other parameters are sent', () => {
  for (const name of [
    'scope',
    'audience',
    'prompt',
    'connection',
    'login_hint',
    'ext-x',
    'clientele',
    '__proto__',
    '',
  ]) {
    expect([mayQuerySet(name), mayConfigurationSet(name)]).toEqual([true, true])
  }
})

test('the challenge is that of RFC 7636 appendix B', async () => {
  const challenge = await toCodeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
  expect(challenge).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
})

test('a verifier has 256 random bits in base64url', () => {
  const verifiers = Array.from({ length: 100 }, newCodeVerifier)
  for (const verifier of verifiers) expect(verifier).toMatch(/^[\w-]{43}$/)
  expect(new Set(verifiers).size).toBe(100)
})
