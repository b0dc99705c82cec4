import { describe, expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { NumberRow } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'
import type { Source } from './readers.ts'
import {
  getField,
  isPresent,
  missing,
  readFlag,
  readFunction,
  readGroup,
  readNumber,
  readOneOf,
  readText,
  toName,
  withRow,
} from './readers.ts'

function collect() {
  const problems: Problem[] = []
  const from = (options: IdpClientOptions = {}, env: Env = {}): Source => ({
    options,
    env,
    addIssue: (kind, message) => problems.push({ kind, message }),
  })
  return { problems, from }
}

describe('order of sources', () => {
  test('[S003] the variable is used only if the option is not set', () => {
    const { from, problems } = collect()
    const env = { IDP_CLIENT_ID: 'from-env' }
    expect(readText(getField('clientId', from({}, env)))).toBe('from-env')
    expect(readText(getField('clientId', from({ clientId: '' }, env)))).toBe('from-env')
    expect(readText(getField('clientId', from({ clientId: 'from-option' }, env)))).toBe('from-option')
    expect(problems).toEqual([])
  })

  test('a blank variable counts as absent', () => {
    const { from } = collect()
    expect(readText(getField('clientId', from({}, { IDP_CLIENT_ID: '  ' })))).toBeUndefined()
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
    const { from, problems } = collect()
    const env = { IDP_COOKIE_SECURE: 'perhaps' }
    const byVariable = getField('session.cookie.secure', from({}, env))
    const byOption = getField(
      'session.cookie.secure',
      from({ session: { cookie: { secure: 'perhaps' as never } } }, env),
    )
    expect(toName(byVariable)).toBe('IDP_COOKIE_SECURE')
    expect(toName(byOption)).toBe('session.cookie.secure')
    readFlag(byVariable)
    readFlag(byOption)
    expect(problems).toEqual([
      { kind: 'wrong-variable', message: 'IDP_COOKIE_SECURE must be true or false.' },
      { kind: 'wrong-option', message: 'session.cookie.secure must be true or false.' },
    ])
  })

  test('a missing option is reported with the ways to set it, without a variable if it has none', () => {
    const { from, problems } = collect()
    expect(missing(getField('session.rolling', from({})))).toBeUndefined()
    missing(getField('domain', from({}, {})), ' to a host')
    expect(problems).toEqual([
      { kind: 'missing', message: 'session.rolling is missing: set the option session.rolling.' },
      {
        kind: 'missing',
        message: 'domain is missing: set the option domain or the variable IDP_DOMAIN to a host.',
      },
    ])
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
    const { from, problems } = collect()
    expect(readFlag(getField('session.cookie.secure', from({}, { IDP_COOKIE_SECURE: text })))).toBe(expected)
    expect(problems).toEqual([])
  })

  test('an option must be a boolean, not a string or a number', () => {
    const { from, problems } = collect()
    expect(readFlag(getField('trustProxy', from({ trustProxy: 'false' as never })))).toBeUndefined()
    expect(readFlag(getField('useDPoP', from({ useDPoP: 0 as never })))).toBe(false)
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-option', 'wrong-option'])
  })
})

describe('readNumber', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, 0, 31_536_001, '5', true, {}])(
    'rejects the option %j',
    (value) => {
      const { from, problems } = collect()
      expect(readNumber(getField('mfaTokenTtl', from({ mfaTokenTtl: value as never }, {})))).toBe(300)
      expect(problems).toEqual([
        { kind: 'wrong-option', message: 'mfaTokenTtl must be a number of seconds from 1 to 31536000.' },
      ])
    },
  )

  test.each(['-1', '1e1', '0x10', '5s', 'NaN', '31536001'])('rejects the variable %s', (text) => {
    const { from, problems } = collect()
    expect(readNumber(getField('mfaTokenTtl', from({}, { IDP_MFA_TOKEN_TTL: text })))).toBe(300)
    expect(problems.map(({ kind }) => kind)).toEqual(['wrong-variable'])
  })

  test('accepts integers of seconds', () => {
    const { from } = collect()
    expect(readNumber(getField('tokenRefreshBuffer', from({ tokenRefreshBuffer: 2.9 })))).toBe(2)
    expect(readNumber(getField('tokenRefreshBuffer', from({ tokenRefreshBuffer: 0 })))).toBe(0)
    expect(readNumber(getField('mfaTokenTtl', from({}, { IDP_MFA_TOKEN_TTL: '60' })))).toBe(60)
  })

  test('the range of an option may depend on another option', () => {
    const { from } = collect()
    const field = getField('mfaTokenTtl', from({ mfaTokenTtl: 0 }, {}))
    expect(readNumber(withRow<NumberRow>(field, { min: 0 }))).toBe(0)
    const absent = getField('mfaTokenTtl', from({}, {}))
    expect(readNumber(withRow<NumberRow>(absent, { default: 7 }))).toBe(7)
  })
})

describe('readOneOf', () => {
  test('accepts listed values; variables in any case', () => {
    const { from } = collect()
    const transactionCookie = { sameSite: 'none' } as const
    expect(readOneOf(getField('transactionCookie.sameSite', from({ transactionCookie })))).toBe('none')
    const field = getField('session.cookie.sameSite', from({}, { IDP_COOKIE_SAME_SITE: 'None' }))
    expect(readOneOf(field)).toBe('none')
  })

  test('an issue names the allowed values, never the given one', () => {
    const { from, problems } = collect()
    const field = getField('logoutStrategy', from({ logoutStrategy: 'OIDC-secret' as never }))
    expect(readOneOf(field)).toBe('auto')
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
    const { from, problems } = collect()
    const hook = () => undefined
    expect(readFunction('onCallback', hook, from())).toBe(hook)
    expect(readFunction('onCallback', undefined, from())).toBeUndefined()
    expect(problems).toEqual([])
    expect(readFunction('onCallback', 'hook' as never, from())).toBeUndefined()
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'onCallback must be a function.' }])
  })

  test.each(['text', 7, true, ['a'], () => ({})])('%j is not an option group', (value) => {
    const { from, problems } = collect()
    expect(readGroup('session', value as object, from())).toEqual({})
    expect(problems).toEqual([{ kind: 'wrong-option', message: 'session must be an object.' }])
  })

  test('a missing group is empty', () => {
    const { from, problems } = collect()
    expect(readGroup('session', undefined, from())).toEqual({})
    expect(readGroup('session', null as never, from())).toEqual({})
    expect(problems).toEqual([])
  })

  test('options in a group that is not an object are absent', () => {
    const { from, problems } = collect()
    for (const session of ['x', ['x'], null, { cookie: 'app' }]) {
      expect(readText(getField('session.cookie.name', from({ session } as never)))).toBe('__session')
    }
    expect(problems).toEqual([])
  })
})
