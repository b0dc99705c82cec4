import { describe, expect, test } from 'vitest'
import type { Problem } from './config.ts'
import {
  field,
  isPresent,
  readFlag,
  readFunction,
  readGroup,
  readNumber,
  readOneOf,
  readText,
  toName,
  waysToSet,
} from './readers.ts'

function collect() {
  const problems: Problem[] = []
  return { problems, note: (kind: Problem['kind'], message: string) => void problems.push({ kind, message }) }
}

describe('order of sources', () => {
  test('[S003] the variable counts only while the option is left out', () => {
    const { note: addIssue, problems } = collect()
    const env = { IDP_CLIENT_ID: 'from-env' }
    expect(readText(field('clientId', undefined, env, 'IDP_CLIENT_ID'), addIssue)).toBe('from-env')
    expect(readText(field('clientId', '', env, 'IDP_CLIENT_ID'), addIssue)).toBe('from-env')
    expect(readText(field('clientId', 'from-option', env, 'IDP_CLIENT_ID'), addIssue)).toBe('from-option')
    expect(problems).toEqual([])
  })

  test('a blank variable is none', () => {
    const { note: addIssue } = collect()
    expect(
      readText(field('clientId', undefined, { IDP_CLIENT_ID: '  ' }, 'IDP_CLIENT_ID'), addIssue),
    ).toBeUndefined()
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

  test('a mistake is named by where it was made', () => {
    const env = { IDP_COOKIE_SECURE: 'perhaps' }
    const byVariable = field('session.cookie.secure', undefined, env, 'IDP_COOKIE_SECURE')
    const byOption = field('session.cookie.secure', 'perhaps', env, 'IDP_COOKIE_SECURE')
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

  test('what can be set in one way only is not said to have a variable', () => {
    expect(waysToSet(field('session.rolling', undefined))).toBe('set the option session.rolling')
    expect(waysToSet(field('domain', undefined, {}, 'IDP_DOMAIN'))).toBe(
      'set the option domain or the variable IDP_DOMAIN',
    )
  })
})

describe('readFlag', () => {
  test.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('the variable text %s is %s', (text, expected) => {
    const { note: addIssue, problems } = collect()
    expect(readFlag(field('x', undefined, { IDP_COOKIE_SECURE: text }, 'IDP_COOKIE_SECURE'), addIssue)).toBe(
      expected,
    )
    expect(problems).toEqual([])
  })

  test('an option must be a boolean, not something that looks like one', () => {
    const { note: addIssue, problems } = collect()
    expect(readFlag(field('useDPoP', 'false'), addIssue)).toBeUndefined()
    expect(readFlag(field('useDPoP', 0), addIssue)).toBeUndefined()
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-option', 'wrong-option'])
  })
})

describe('readNumber', () => {
  const range = { min: 0, max: 100, unit: 'seconds' } as const

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 101, '5', true, {}])(
    'refuses the option %j',
    (value) => {
      const { note: addIssue, problems } = collect()
      expect(readNumber(field('mfaTokenTtl', value), range, addIssue)).toBeUndefined()
      expect(problems).toEqual([
        { kind: 'wrong-option', message: 'mfaTokenTtl must be a number of seconds from 0 to 100.' },
      ])
    },
  )

  test.each(['-1', '1e1', '0x10', '5s', 'NaN', '101'])('refuses the variable %s', (text) => {
    const { note: addIssue, problems } = collect()
    const setting = field('mfaTokenTtl', undefined, { IDP_MFA_TOKEN_TTL: text }, 'IDP_MFA_TOKEN_TTL')
    expect(readNumber(setting, range, addIssue)).toBeUndefined()
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-variable'])
  })

  test('keeps whole seconds', () => {
    const { note: addIssue } = collect()
    expect(readNumber(field('mfaTokenTtl', 2.9), range, addIssue)).toBe(2)
    expect(readNumber(field('mfaTokenTtl', 0), range, addIssue)).toBe(0)
    expect(
      readNumber(field('x', undefined, { IDP_MFA_TOKEN_TTL: '60' }, 'IDP_MFA_TOKEN_TTL'), range, addIssue),
    ).toBe(60)
  })
})

describe('readOneOf', () => {
  test('takes a listed value; variables in any case', () => {
    const { note: addIssue } = collect()
    expect(readOneOf(field('x', 'lax'), ['lax', 'none'], addIssue)).toBe('lax')
    const setting = field('x', undefined, { IDP_COOKIE_SAME_SITE: 'None' }, 'IDP_COOKIE_SAME_SITE')
    expect(readOneOf(setting, ['lax', 'none'], addIssue)).toBe('none')
  })

  test('names what is allowed, never what was given', () => {
    const { note: addIssue, problems } = collect()
    expect(readOneOf(field('logoutStrategy', 'OIDC-secret'), ['auto', 'oidc'], addIssue)).toBeUndefined()
    expect(problems).toEqual([
      { kind: 'wrong-option', message: "logoutStrategy must be one of 'auto', 'oidc'." },
    ])
  })
})

describe('readFunction and readGroup', () => {
  test('a function passes as it is', () => {
    const { note: addIssue, problems } = collect()
    const hook = () => undefined
    expect(readFunction('onCallback', hook, addIssue)).toBe(hook)
    expect(readFunction('onCallback', undefined, addIssue)).toBeUndefined()
    expect(problems).toEqual([])
    expect(readFunction('onCallback', 'hook' as never, addIssue)).toBeUndefined()
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'onCallback must be a function.' }])
  })

  test.each(['text', 7, true, ['a'], () => ({})])('%j is no group', (value) => {
    const { note: addIssue, problems } = collect()
    expect(readGroup('session', value as object, addIssue)).toEqual({})
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'session must be an object.' }])
  })

  test('a group left out is empty', () => {
    const { note: addIssue, problems } = collect()
    expect(readGroup('session', undefined, addIssue)).toEqual({})
    expect(readGroup('session', null as never, addIssue)).toEqual({})
    expect(problems).toEqual([])
  })
})
