import { describe, expect, it } from 'vitest'
import { lastValues } from './route.ts'

describe('query', () => {
  it('returns the last of repeated parameters', () => {
    const values = lastValues(new URLSearchParams('prompt=none&scope=a&prompt=login&empty='))
    expect([...values]).toEqual([
      ['prompt', 'login'],
      ['scope', 'a'],
      ['empty', ''],
    ])
  })

  it('treats names of Object.prototype as names', () => {
    expect(lastValues(new URLSearchParams('__proto__=a&__proto__=b')).get('__proto__')).toBe('b')
    expect(lastValues(new URLSearchParams('')).get('constructor')).toBeUndefined()
  })
})
