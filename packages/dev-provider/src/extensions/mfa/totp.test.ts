import { expect, test } from 'vitest'
import { createTotpSecret, isTotpSecret, matchesTotp, otpauthUri, totp } from './totp.ts'

// RFC 6238, appendix B: the secret `12345678901234567890`, the last six digits of the SHA-1 column.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at %i is %s', (time, code) => {
  expect(totp(SECRET, time)).toBe(code)
})

test('a code is valid one step early and late, and no longer', () => {
  const code = totp(SECRET, 3000)
  expect([2970, 3000, 3029, 3059].map((time) => matchesTotp(SECRET, code, time))).toEqual(
    Array.from({ length: 4 }, () => true),
  )
  expect([2969, 3060].map((time) => matchesTotp(SECRET, code, time))).toEqual([false, false])
})

test('secrets differ, are base32, and may be written in groups', () => {
  const secret = createTotpSecret()
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(secret).not.toBe(createTotpSecret())
  expect(isTotpSecret(secret)).toBe(true)
  expect(isTotpSecret('not a secret')).toBe(false)
  expect(totp(SECRET.toLowerCase().replace(/.{4}/g, '$& '), 59)).toBe(totp(SECRET, 59))
})

test('the URI for the QR code escapes the account', () => {
  const uri = new URL(otpauthUri(SECRET, 'a?b&c'))
  expect(decodeURIComponent(uri.pathname)).toContain(':a?b&c')
  expect(uri.searchParams.get('secret')).toBe(SECRET)
})
