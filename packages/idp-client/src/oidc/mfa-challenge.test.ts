import { describe, expect, test } from 'vitest'
import { readMfaChallenge } from './mfa-challenge.ts'

describe('what an answer with mfa_required says beside it', () => {
  test('token and kinds of factors', () => {
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
    'no token that a header could carry: %j',
    (token) => {
      expect(readMfaChallenge({ mfa_token: token })).toEqual({})
    },
  )

  test.each([undefined, null, 'otp', [], {}, { challenge: 'otp' }, { enroll: {} }])(
    'no requirements: %j',
    (requirements) => {
      expect(readMfaChallenge({ mfa_requirements: requirements })).toEqual({})
    },
  )

  test('invalid kinds are left out, and there is a bound', () => {
    const odd = [null, 7, 'otp', {}, { type: '' }, { type: '<script>' }, { type: 'x'.repeat(65) }]
    const many = Array.from({ length: 50 }, (_, at) => ({ type: `kind-${at}` }))
    const { requirements } = readMfaChallenge({ mfa_requirements: { challenge: [...odd, ...many] } })
    expect(requirements?.challenge).toEqual(many.slice(0, 20))
  })
})
