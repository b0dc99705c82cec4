import { describe, expect, it } from 'vitest'
import { hasRepeated, lastValues } from './query.ts'

describe('query', () => {
  it('takes the last of repeated parameters', () => {
    const values = lastValues(new URLSearchParams('prompt=none&scope=a&prompt=login&empty='))
    expect([...values]).toEqual([
      ['prompt', 'login'],
      ['scope', 'a'],
      ['empty', ''],
    ])
  })

  it('EL-04 treats names of object members as names', () => {
    expect(lastValues(new URLSearchParams('__proto__=a&__proto__=b')).get('__proto__')).toBe('b')
    expect(lastValues(new URLSearchParams('')).get('constructor')).toBeUndefined()
  })

  it('CB-08 tells that a parameter stands more than once, also with the same value', () => {
    const params = new URLSearchParams('state=a&state=a&code=b')
    expect(hasRepeated(params, 'state')).toBe(true)
    expect(hasRepeated(params, 'code')).toBe(false)
    expect(hasRepeated(params, 'iss')).toBe(false)
  })
})
