import { describe, expect, test } from 'vitest'
import { readMfaChallenge } from './translate.ts'

describe('a response with mfa_required', () => {
  test('contains the token and the types of factors', () => {
    const body = {
      error: 'mfa_required',
      mfa_token: 'raw',
      mfa_requirements: { challenge: [{ type: 'otp', more: 1 }], enroll: [] },
    }
    expect(readMfaChallenge(body)).toEqual({
      token: 'raw',
      requirements: { challenge: [{ type: 'otp' }], enroll: [] },
    })
  })

  test.each([undefined, '', 7, 'a b', 'a\r\nb: c', 'ü', 'x'.repeat(8193)])(
    'has no token if a header could not contain it: %j',
    (token) => {
      expect(readMfaChallenge({ mfa_token: token })).toEqual({})
    },
  )

  test.each([undefined, null, 'otp', [], {}, { challenge: 'otp' }, { enroll: {} }])(
    'has no requirements: %j',
    (requirements) => {
      expect(readMfaChallenge({ mfa_requirements: requirements })).toEqual({})
    },
  )

  test('has a limited number of valid factor types; others are dropped', () => {
    const odd = [null, 7, 'otp', {}, { type: '' }, { type: '<script>' }, { type: 'x'.repeat(65) }]
    const many = Array.from({ length: 50 }, (_, at) => ({ type: `kind-${at}` }))
    const { requirements } = readMfaChallenge({ mfa_requirements: { challenge: [...odd, ...many] } })
    expect(requirements?.challenge).toEqual(many.slice(0, 20))
  })
})
