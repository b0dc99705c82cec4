import { describe, expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { NumberRow } from './option-rows.ts'
import {
  getField,
  isPresent,
  readFlag,
  readFunction,
  readGroup,
  readNumber,
  readOneOf,
  readText,
  toName,
  waysToSet,
  withRow,
} from './readers.ts'

function collect() {
  const problems: Problem[] = []
  return { problems, note: (kind: Problem['kind'], message: string) => void problems.push({ kind, message }) }
}

describe('order of sources', () => {
  test('[S003] the variable is used only if the option is not set', () => {
    const { note: addIssue, problems } = collect()
    const env = { IDP_CLIENT_ID: 'from-env' }
    expect(readText(getField('clientId', {}, env), addIssue)).toBe('from-env')
    expect(readText(getField('clientId', { clientId: '' }, env), addIssue)).toBe('from-env')
    expect(readText(getField('clientId', { clientId: 'from-option' }, env), addIssue)).toBe('from-option')
    expect(problems).toEqual([])
  })

  test('a blank variable counts as absent', () => {
    const { note: addIssue } = collect()
    expect(readText(getField('clientId', {}, { IDP_CLIENT_ID: '  ' }), addIssue)).toBeUndefined()
  })

  test.each([
    [undefined, false],
    [null, false],
    ['', false],
    [0, true],
    [false, true],
    ['x', true],
  ])('isGiven(%j) is %s', (value, expected) => {
    expect(isPresent(value)).toBe(expected)
  })

  test('an issue names the option or the variable that caused it', () => {
    const env = { IDP_COOKIE_SECURE: 'perhaps' }
    const byVariable = getField('session.cookie.secure', {}, env)
    const byOption = getField(
      'session.cookie.secure',
      { session: { cookie: { secure: 'perhaps' as never } } },
      env,
    )
    expect(toName(byVariable)).toBe('IDP_COOKIE_SECURE')
    expect(toName(byOption)).toBe('session.cookie.secure')
    const { note: addIssue, problems } = collect()
    readFlag(byVariable, addIssue)
    readFlag(byOption, addIssue)
    expect(problems).toEqual([
      { kind: 'wrong-variable', message: 'IDP_COOKIE_SECURE must be true or false.' },
      { kind: 'wrong-option', message: 'session.cookie.secure must be true or false.' },
    ])
  })

  test('an issue of an option without a variable names no variable', () => {
    expect(waysToSet(getField('session.rolling', {}))).toBe('set the option session.rolling')
    expect(waysToSet(getField('domain', {}, {}))).toBe('set the option domain or the variable IDP_DOMAIN')
  })
})

describe('readFlag', () => {
  test.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('the variable value %s is %s', (text, expected) => {
    const { note: addIssue, problems } = collect()
    expect(readFlag(getField('session.cookie.secure', {}, { IDP_COOKIE_SECURE: text }), addIssue)).toBe(
      expected,
    )
    expect(problems).toEqual([])
  })

  test('an option must be a boolean, not a string or a number', () => {
    const { note: addIssue, problems } = collect()
    expect(readFlag(getField('trustProxy', { trustProxy: 'false' as never }), addIssue)).toBeUndefined()
    expect(readFlag(getField('useDPoP', { useDPoP: 0 as never }), addIssue)).toBe(false)
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-option', 'wrong-option'])
  })
})

describe('readNumber', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, 0, 31_536_001, '5', true, {}])(
    'rejects the option %j',
    (value) => {
      const { note: addIssue, problems } = collect()
      expect(readNumber(getField('mfaTokenTtl', { mfaTokenTtl: value as never }, {}), addIssue)).toBe(300)
      expect(problems).toEqual([
        { kind: 'wrong-option', message: 'mfaTokenTtl must be a number of seconds from 1 to 31536000.' },
      ])
    },
  )

  test.each(['-1', '1e1', '0x10', '5s', 'NaN', '31536001'])('rejects the variable %s', (text) => {
    const { note: addIssue, problems } = collect()
    expect(readNumber(getField('mfaTokenTtl', {}, { IDP_MFA_TOKEN_TTL: text }), addIssue)).toBe(300)
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-variable'])
  })

  test('accepts integers of seconds', () => {
    const { note: addIssue } = collect()
    expect(readNumber(getField('tokenRefreshBuffer', { tokenRefreshBuffer: 2.9 }), addIssue)).toBe(2)
    expect(readNumber(getField('tokenRefreshBuffer', { tokenRefreshBuffer: 0 }), addIssue)).toBe(0)
    expect(readNumber(getField('mfaTokenTtl', {}, { IDP_MFA_TOKEN_TTL: '60' }), addIssue)).toBe(60)
  })

  test('the range of an option may depend on another option', () => {
    const { note: addIssue } = collect()
    const field = getField('mfaTokenTtl', { mfaTokenTtl: 0 }, {})
    expect(readNumber(withRow<NumberRow>(field, { min: 0 }), addIssue)).toBe(0)
    const absent = getField('mfaTokenTtl', {}, {})
    expect(readNumber(withRow<NumberRow>(absent, { default: 7 }), addIssue)).toBe(7)
  })
})

describe('readOneOf', () => {
  test('accepts listed values; variables in any case', () => {
    const { note: addIssue } = collect()
    const transactionCookie = { sameSite: 'none' } as const
    expect(readOneOf(getField('transactionCookie.sameSite', { transactionCookie }), addIssue)).toBe('none')
    const field = getField('session.cookie.sameSite', {}, { IDP_COOKIE_SAME_SITE: 'None' })
    expect(readOneOf(field, addIssue)).toBe('none')
  })

  test('an issue names the allowed values, never the given one', () => {
    const { note: addIssue, problems } = collect()
    const field = getField('logoutStrategy', { logoutStrategy: 'OIDC-secret' as never })
    expect(readOneOf(field, addIssue)).toBe('auto')
    expect(problems).toEqual([
      {
        kind: 'wrong-option',
        message: "logoutStrategy must be one of 'auto', 'oidc', 'v2', 'local'.",
      },
    ])
  })
})

describe('readFunction and readGroup', () => {
  test('a function is returned unchanged', () => {
    const { note: addIssue, problems } = collect()
    const hook = () => undefined
    expect(readFunction('onCallback', hook, addIssue)).toBe(hook)
    expect(readFunction('onCallback', undefined, addIssue)).toBeUndefined()
    expect(problems).toEqual([])
    expect(readFunction('onCallback', 'hook' as never, addIssue)).toBeUndefined()
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'onCallback must be a function.' }])
  })

  test.each(['text', 7, true, ['a'], () => ({})])('%j is not an option group', (value) => {
    const { note: addIssue, problems } = collect()
    expect(readGroup('session', value as object, addIssue)).toEqual({})
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'session must be an object.' }])
  })

  test('a missing group is empty', () => {
    const { note: addIssue, problems } = collect()
    expect(readGroup('session', undefined, addIssue)).toEqual({})
    expect(readGroup('session', null as never, addIssue)).toEqual({})
    expect(problems).toEqual([])
  })

  test('options in a group that is not an object are absent', () => {
    const { note: addIssue, problems } = collect()
    for (const session of ['x', ['x'], null, { cookie: 'app' }]) {
      expect(readText(getField('session.cookie.name', { session } as never), addIssue)).toBe('__session')
    }
    expect(problems).toEqual([])
  })
})
