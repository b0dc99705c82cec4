import { describe, expect, test } from 'vitest'
import { onlyOptions, readRequirements } from './guard-options.ts'

function refusal(options: unknown, further: readonly string[] = []): unknown {
  try {
    return readRequirements('withPageAuthRequired', options, further)
  } catch (error) {
    return error
  }
}

function refused(text: string): unknown {
  return expect.objectContaining({
    name: 'InvalidConfigurationError',
    code: 'INVALID_CONFIGURATION',
    message: expect.stringContaining(`withPageAuthRequired: ${text}`),
  })
}

describe('options that guards accept', () => {
  test('a value may be a string or an array, and a scope is sent to the provider as one string', () => {
    expect(readRequirements('g', {})).toEqual({})
    const all = { maxAge: 0, acr: 'urn:a', amr: 'otp', organization: 'Ärzte & Co', scope: 'a b:c' }
    expect(readRequirements('g', all)).toEqual({
      maxAge: 0,
      acr: ['urn:a'],
      amr: ['otp'],
      organization: ['Ärzte & Co'],
      scope: ['a', 'b:c'],
    })
    expect(readRequirements('g', { acr: ['x', 'y'], scope: ['a', 'b'] })).toEqual({
      acr: ['x', 'y'],
      scope: ['a', 'b'],
    })
  })

  test('undefined requires nothing', () => {
    const nothing = {
      maxAge: undefined,
      acr: undefined,
      amr: undefined,
      organization: undefined,
      scope: undefined,
    }
    expect(readRequirements('g', nothing)).toEqual({})
    expect(readRequirements('g', { ...nothing, returnTo: undefined, maxAge: 5 }, ['returnTo'])).toEqual({
      maxAge: 5,
    })
  })

  test('later changes of the options have no effect', () => {
    const options = { acr: ['gold'], maxAge: 5 }
    const read = readRequirements('g', options)
    options.acr.push('bronze')
    options.maxAge = 5000
    expect(read).toEqual({ acr: ['gold'], maxAge: 5 })
    expect([Object.isFrozen(read), Object.isFrozen(read.acr)]).toEqual([true, true])
  })
})

describe('options that guards reject', () => {
  test.each([
    'maxage',
    'max_age',
    'acrValues',
    'acr_values',
    'scopes',
    'organisation',
    'roles',
    'returnTo',
    '__proto__x',
  ])('the unknown option %s is rejected', (key) => {
    expect(refusal({ [key]: undefined, maxAge: 5 })).toEqual(refused(`${key} is not an option`))
  })

  test('options of other guards, symbols, malformed and non-enumerable keys are rejected', () => {
    expect(refusal({ getServerSideProps: 1 }, ['returnTo'])).toEqual(
      refused('getServerSideProps is not an option'),
    )
    expect(refusal({ [Symbol('maxAge')]: 5 })).toEqual(refused('a key is not an option'))
    expect(refusal({ 'max age\n': 5 })).toEqual(refused('a key is not an option'))
    expect(refusal(Object.defineProperty({}, 'role', { value: 'x', enumerable: false }))).toEqual(
      refused('role is not an option'),
    )
  })

  test.each([[null], [[]], ['maxAge'], [5], [() => ({ maxAge: 5 })]])('%j is rejected', (options) => {
    expect(refusal(options)).toEqual(refused('its options must be a plain object'))
  })

  test.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], [1.5], ['300'], [null], [[300]], [1e10], [5n]])(
    'maxAge %s is rejected',
    (maxAge) => {
      expect(refusal({ maxAge })).toEqual(refused('maxAge must be an integer number of seconds'))
    },
  )

  const values: [string, unknown][] = [
    ['an empty text', ''],
    ['an empty list', []],
    ['a list with an empty text', ['a', '']],
    ['a list with something else', ['a', 5]],
    ['a list with a hole', [undefined, 'a']],
    ['null', null],
    ['a number', 5],
    ['an object', { a: true }],
    ['true', true],
    ['a set', new Set(['a'])],
  ]
  for (const name of ['acr', 'amr', 'organization', 'scope']) {
    test.each(values)(`${name}: %s is rejected`, (_what, value) => {
      expect(refusal({ [name]: value })).toEqual(
        refused(`${name} must be a non-empty string or a list of them`),
      )
    })
  }

  test('a hole in an array is rejected', () => {
    const holed = ['a']
    holed[2] = 'b'
    expect(refusal({ amr: holed })).toEqual(refused('amr must be'))
  })

  test.each(['a b', 'a"b', 'a\\b', 'a\r\nSet-Cookie: x=1', 'ü', '\u0000', '\u007f', ' a'])(
    '%j is rejected, because it could break out of a header',
    (text) => {
      for (const name of ['acr', 'amr']) expect(refusal({ [name]: text })).toEqual(refused(`${name} must be`))
      expect(refusal({ scope: [text] })).toEqual(refused('scope must be'))
    },
  )

  test.each(['a  b', ' a', 'a ', 'a\tb', 'a\nb'])(
    'a scope with other separators than single spaces is rejected: %j',
    (scope) => {
      expect(refusal({ scope })).toEqual(refused('scope must be'))
    },
  )

  test.each(['\n', 'a\r\nb', '   ', '\ud800'])('rejects %j as an organization', (organization) => {
    expect(refusal({ organization })).toEqual(refused('organization must be'))
  })

  test('no message repeats a value', () => {
    const error = refusal({ acr: 'secret value' }) as Error
    expect(error.message).not.toContain('secret')
  })

  test('inherited options are rejected, because they would have no effect', () => {
    expect(() => onlyOptions('withPageAuthRequired', {}, { maxAge: 5 })).toThrow('not a handler')
    expect(onlyOptions('g', 'first', undefined)).toBe('first')
  })
})
