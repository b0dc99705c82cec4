import { describe, expect, test } from 'vitest'
import type { Authenticator } from '../config/mfa.ts'
import { acceptsAuthenticator, acceptsChallenge } from './mfa-factors.ts'

const accepting = (...types: string[]) => ({ challenge: types.map((type) => ({ type })) })

function factor(authenticatorType: string, more: Partial<Authenticator> = {}): Authenticator {
  return { id: 'a', authenticatorType, active: true, ...more }
}

const app = factor('otp')
const paper = factor('recovery-code')
const sms = factor('oob', { oobChannel: 'sms' })
const push = factor('oob', { oobChannel: 'push' })
const named = factor('oob', { oobChannel: 'voice', type: 'phone' })
const all = [app, paper, sms, push, named]

describe('allowed challenges', () => {
  test.each([
    [['otp'], 'otp', true],
    [['totp'], 'otp', true],
    [['otp'], 'oob', false],
    [['otp', 'recovery-code'], 'oob', false],
    [['phone'], 'oob', true],
    [['push-notification'], 'oob', true],
    [['oob'], 'oob', true],
    [['phone', 'email'], 'otp', false],
    [[], 'otp', false],
    [[], 'oob', false],
  ] as const)('%j, %s: %s', (types, type, expected) => {
    expect(acceptsChallenge(accepting(...types), type)).toBe(expected)
  })

  test('without a list the provider decides', () => {
    expect(acceptsChallenge({ enroll: [{ type: 'otp' }] }, 'oob')).toBe(true)
  })
})

describe('[S209] listed factors', () => {
  test.each([
    [['otp'], [app]],
    [['totp'], [app]],
    [['recovery-code'], [paper]],
    [['phone'], [sms, named]],
    [['push-notification'], [push]],
    [['oob'], [sms, push, named]],
    [['sms'], [sms]],
    [
      ['otp', 'phone'],
      [app, sms, named],
    ],
    [['webauthn'], []],
    [[], []],
  ] as const)('%j', (types, expected) => {
    expect(all.filter((one) => acceptsAuthenticator(accepting(...types), one))).toEqual(expected)
  })

  test('without a list all are returned', () => {
    expect(all.filter((one) => acceptsAuthenticator({}, one))).toEqual(all)
  })
})
