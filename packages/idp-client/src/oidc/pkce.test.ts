import { expect, test } from 'vitest'
import { newCodeVerifier, toCodeChallenge } from './pkce.ts'

test('the challenge is that of RFC 7636 appendix B', async () => {
  const challenge = await toCodeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
  expect(challenge).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
})

test('a verifier has 256 random bits in base64url', () => {
  const verifiers = Array.from({ length: 100 }, newCodeVerifier)
  for (const verifier of verifiers) expect(verifier).toMatch(/^[\w-]{43}$/)
  expect(new Set(verifiers).size).toBe(100)
})
