import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constantTimeEqual, hashToken, randomToken } from './random.ts'

describe('randomToken', () => {
  it('AR-03 is base64url text of that many fresh bytes', () => {
    expect(randomToken()).toMatch(/^[\w-]{43}$/)
    expect(randomToken(9)).toMatch(/^[\w-]{12}$/)
    expect(new Set(Array.from({ length: 1000 }, () => randomToken())).size).toBe(1000)
  })
})

describe('hashToken', () => {
  it('is the beginning of SHA-256 in base64url', async () => {
    expect(await hashToken('abc')).toBe('ungWv48Bz-pBQUDeXa4iIw')
    expect(await hashToken('abc', 9)).toBe('ungWv48Bz-pB')
  })
})

describe('constantTimeEqual', () => {
  it('agrees with equality', () => {
    expect(constantTimeEqual('', '')).toBe(true)
    expect(constantTimeEqual('abc', 'abd')).toBe(false)
    expect(constantTimeEqual('abc', 'abcd')).toBe(false)
    const short = fc.string({ unit: fc.constantFrom('a', 'b', '\u0141', '\ud800'), maxLength: 3 })
    fc.assert(fc.property(short, short, (a, b) => constantTimeEqual(a, b) === (a === b)))
  })
})
