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

describe('what guards understand', () => {
  test('[CVE-2026-42349] one text or several, and a scope as the provider gets it', () => {
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

  test('[CVE-2026-42349] undefined requires nothing', () => {
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

describe('what guards refuse', () => {
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
  ])('[CVE-2026-42349] the unknown option %s', (key) => {
    expect(refusal({ [key]: undefined, maxAge: 5 })).toEqual(refused(`${key} is not an option`))
  })

  test('[CVE-2026-42349] refuses options of other guards, symbols, malformed and non-enumerable keys', () => {
    expect(refusal({ getServerSideProps: 1 }, ['returnTo'])).toEqual(
      refused('getServerSideProps is not an option'),
    )
    expect(refusal({ [Symbol('maxAge')]: 5 })).toEqual(refused('a key is not an option'))
    expect(refusal({ 'max age\n': 5 })).toEqual(refused('a key is not an option'))
    expect(refusal(Object.defineProperty({}, 'role', { value: 'x', enumerable: false }))).toEqual(
      refused('role is not an option'),
    )
  })

  test.each([[null], [[]], ['maxAge'], [5], [() => ({ maxAge: 5 })]])('invalid options: %j', (options) => {
    expect(refusal(options)).toEqual(refused('its options must be an object'))
  })

  test.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], [1.5], ['300'], [null], [[300]], [1e10], [5n]])(
    '[CVE-2026-42349] maxAge %s',
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
    test.each(values)(`[CVE-2026-42349] ${name}: %s`, (_what, value) => {
      expect(refusal({ [name]: value })).toEqual(
        refused(`${name} must be a non-empty string or a list of them`),
      )
    })
  }

  test('a hole in an array is not a string', () => {
    const holed = ['a']
    holed[2] = 'b'
    expect(refusal({ amr: holed })).toEqual(refused('amr must be'))
  })

  test.each(['a b', 'a"b', 'a\\b', 'a\r\nSet-Cookie: x=1', 'ü', '\u0000', '\u007f', ' a'])(
    'what could leave its place in a header: %j',
    (text) => {
      for (const name of ['acr', 'amr']) expect(refusal({ [name]: text })).toEqual(refused(`${name} must be`))
      expect(refusal({ scope: [text] })).toEqual(refused('scope must be'))
    },
  )

  test.each(['a  b', ' a', 'a ', 'a\tb', 'a\nb'])('a scope with anything but single spaces: %j', (scope) => {
    expect(refusal({ scope })).toEqual(refused('scope must be'))
  })

  test.each(['\n', 'a\r\nb', '   ', '\ud800'])('refuses %j as an organization', (organization) => {
    expect(refusal({ organization })).toEqual(refused('organization must be'))
  })

  test('no message repeats a value', () => {
    const error = refusal({ acr: 'secret value' }) as Error
    expect(error.message).not.toContain('secret')
  })

  test('[CVE-2026-42349] options behind options, which would be without effect', () => {
    expect(() => onlyOptions('withPageAuthRequired', {}, { maxAge: 5 })).toThrow('no handler')
    expect(onlyOptions('g', 'first', undefined)).toBe('first')
  })
})
