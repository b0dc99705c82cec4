import { expect, test } from 'vitest'
import { challengeParameter } from './challenge.ts'

test.each([
  ['DPoP error="use_dpop_nonce", error_description="x"', 'use_dpop_nonce'],
  ['dpop ERROR = use_dpop_nonce', 'use_dpop_nonce'],
  ['DPoP algs="ES256 PS256", error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['Bearer realm="a, DPoP error=x", DPoP error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['Negotiate dG9rZW4==, DPoP error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['DPoP error="a\\"b"', 'a"b'],
  ['DPoP realm="error=use_dpop_nonce"', null],
  ['Bearer error="use_dpop_nonce"', null],
  ['DPoP algs="ES256", Bearer error="use_dpop_nonce"', null],
  ['XDPoP error="use_dpop_nonce"', null],
  ['DPoP error="', ''],
  ['DPoP', null],
  ['', null],
])('%s: %s', (header, expected) => {
  expect(challengeParameter(header, 'dpop', 'error')).toBe(expected)
})

test('[G6] a header is parsed in linear time', () => {
  // A pattern that backtracks needs hours for a megabyte of these.
  for (const part of ['dpop ', 'dpop x="', 'a=', '"', '\\', 'dpop error,', 'dpop error= ', ' ', '\t,'])
    expect(challengeParameter(part.repeat(1_000_000 / part.length), 'dpop', 'none')).toBe(null)
})
