import { describe, expect, test } from 'vitest'
import { readChallenge, readEnrollment, readMfaToken, readProof } from './mfa-options.ts'

const refusal = (detail: string) =>
  expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(detail) })

const nothing: readonly unknown[] = [undefined, null, 'text', 7, {}]

describe('mfaToken', () => {
  test('is a string', () => {
    expect(readMfaToken({ mfaToken: 'sealed' })).toBe('sealed')
  })

  test.each([...nothing, { mfaToken: '' }, { mfaToken: 7 }, { mfaToken: ['sealed'] }])(
    '%j is rejected',
    (options) => {
      expect(() => readMfaToken(options)).toThrow(refusal('mfaToken'))
    },
  )
})

describe('a challenge', () => {
  test.each([{ challengeType: 'otp' }, { challengeType: 'oob', authenticatorId: 'sms|dev_1' }])(
    '%j is rejected',
    (options) => {
      expect(readChallenge({ mfaToken: 'sealed', ...options })).toEqual(options)
    },
  )

  test('null and undefined properties are ignored', () => {
    expect(readChallenge({ challengeType: 'otp', authenticatorId: null })).toEqual({ challengeType: 'otp' })
  })

  test.each([...nothing, { challengeType: 'sms' }, { challengeType: ['otp'] }])(
    '%j is rejected',
    (options) => {
      expect(() => readChallenge(options)).toThrow(refusal('challengeType'))
    },
  )

  test.each([' ', 7, 'x'.repeat(9000)])('an id %j is rejected', (authenticatorId) => {
    expect(() => readChallenge({ challengeType: 'otp', authenticatorId })).toThrow(refusal('authenticatorId'))
  })
})

describe('an enrolment', () => {
  const phoneNumber = '+15550100111'

  test.each([
    [{ authenticatorTypes: ['otp'] }, { type: 'otp' }],
    [{ factorType: 'otp' }, { type: 'otp' }],
    [{ factorType: 'push' }, { type: 'oob', channels: ['push'] }],
    [
      { factorType: 'email', email: 'a@b.example' },
      { type: 'oob', channels: ['email'], email: 'a@b.example' },
    ],
    [
      { factorType: 'sms', phoneNumber },
      { type: 'oob', channels: ['sms'], phoneNumber },
    ],
    [
      { authenticatorTypes: ['oob'], oobChannels: ['voice', 'sms'], phoneNumber },
      { type: 'oob', channels: ['voice', 'sms'], phoneNumber },
    ],
  ])('%j is accepted', (options, expected) => {
    expect(readEnrollment(options)).toEqual(expected)
  })

  test.each([
    [{}, 'authenticatorTypes'],
    [null, 'authenticatorTypes'],
    [{ authenticatorTypes: [] }, 'authenticatorTypes'],
    [{ authenticatorTypes: 'otp' }, 'authenticatorTypes'],
    [{ authenticatorTypes: ['otp', 'oob'] }, 'authenticatorTypes'],
    [{ authenticatorTypes: ['recovery-code'] }, 'authenticatorTypes'],
    [{ authenticatorTypes: ['oob'] }, 'oobChannels'],
    [{ authenticatorTypes: ['oob'], oobChannels: [] }, 'oobChannels'],
    [{ authenticatorTypes: ['oob'], oobChannels: ['email', 'fax'] }, 'oobChannels'],
    [{ factorType: 'fax' }, 'factorType'],
    [{ factorType: 'otp', authenticatorTypes: ['otp'] }, 'factorType'],
    [{ factorType: 'push', oobChannels: ['push'] }, 'factorType'],
    [{ factorType: 'sms' }, 'phoneNumber'],
    [{ factorType: 'voice', phoneNumber: '' }, 'phoneNumber'],
    [{ authenticatorTypes: ['oob'], oobChannels: ['email', 'sms'] }, 'phoneNumber'],
    [{ factorType: 'email', email: 7 }, 'email'],
  ])('%j is rejected: %s', (options, detail) => {
    expect(() => readEnrollment(options)).toThrow(refusal(detail))
  })
})

describe('a proof', () => {
  test.each([
    [{ otp: '123456' }, { kind: 'otp', otp: '123456' }],
    [{ oobCode: 'c' }, { kind: 'oob', oobCode: 'c' }],
    [
      { oobCode: 'c', bindingCode: '1' },
      { kind: 'oob', oobCode: 'c', bindingCode: '1' },
    ],
    [
      { recoveryCode: 'r', otp: undefined },
      { kind: 'recovery-code', recoveryCode: 'r' },
    ],
  ])('%j is rejected', (options, expected) => {
    expect(readProof(options)).toEqual(expected)
  })

  test.each<[unknown, string]>([
    ...nothing.map((options): [unknown, string] => [options, 'exactly one']),
    [{ otp: '1', oobCode: 'c' }, 'exactly one'],
    [{ otp: '1', recoveryCode: 'r' }, 'exactly one'],
    [{ otp: 123456 }, 'otp'],
    [{ otp: '' }, 'otp'],
    [{ otp: '1', bindingCode: '2' }, 'bindingCode'],
    [{ bindingCode: '2' }, 'bindingCode'],
  ])('%j: %s', (options, detail) => {
    expect(() => readProof(options)).toThrow(refusal(detail))
  })

  test('no message contains the given value', () => {
    const message = expect.not.stringMatching(/424242|secret-code/)
    const given = { otp: '424242', recoveryCode: 'secret-code' }
    expect(() => readProof(given)).toThrow(expect.objectContaining({ message }))
  })
})
