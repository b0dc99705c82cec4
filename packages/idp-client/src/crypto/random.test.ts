import { describe, expect, it } from 'vitest'
import { constantTimeEqual, hashToken, randomToken } from './random.ts'

describe('randomToken', () => {
  it('is base64url of that many random bytes', () => {
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
  it('[I2] agrees with equality for every pair of short strings', () => {
    // Two of them differ in the upper byte of a UTF-16 code unit only.
    const units = ['a', 'b', '\u0161', '\ud800']
    const longer = (texts: string[]): string[] => texts.flatMap((text) => units.map((unit) => text + unit))
    const [none, one] = [[''], units]
    const texts = [...none, ...one, ...longer(one), ...longer(longer(one))]
    expect(texts).toHaveLength(85)
    const wrong = texts.flatMap((a) => texts.filter((b) => constantTimeEqual(a, b) !== (a === b)))
    expect(wrong).toEqual([])
  })

  it('[I2] detects a difference in any bit of any character', () => {
    const text = 'random-token'
    for (let at = 0; at < text.length; at += 1) {
      for (let bit = 0; bit < 16; bit += 1) {
        const unit = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))
        expect(constantTimeEqual(text, text.slice(0, at) + unit + text.slice(at + 1))).toBe(false)
      }
    }
    expect(constantTimeEqual(text, ['random', 'token'].join('-'))).toBe(true)
  })
})
