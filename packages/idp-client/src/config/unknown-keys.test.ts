import { expect, test } from 'vitest'
import type { Problem } from './config.ts'
import { customFetch } from './options.ts'
import { checkKeys, optionPaths } from './unknown-keys.ts'

function messages(options: object): string[] {
  const problems: Problem[] = []
  checkKeys(options, { options: {}, env: {}, addIssue: (kind, message) => problems.push({ kind, message }) })
  expect(problems.every(({ kind }) => kind === 'notice')).toBe(true)
  return problems.map(({ message }) => message)
}

test.each([
  [
    '[S076] the example name of inactivityDuration',
    { session: { rollingDuration: 1 } },
    'session.inactivityDuration',
  ],
  ['[S095] the example name of maxAge', { transactionCookie: { duration: 600 } }, 'transactionCookie.maxAge'],
  [
    'the example spelling of backChannelLogout',
    { routes: { backchannelLogout: '/x' } },
    'routes.backChannelLogout',
  ],
  ['a slip of the keyboard', { clinetId: 'x' }, 'clientId'],
  ['another case', { clientID: 'x' }, 'clientId'],
  ['a nested slip', { session: { cookie: { samesite: 'lax' } } }, 'session.cookie.sameSite'],
  ['a member at the wrong level', { inactivityDuration: 1 }, 'session.inactivityDuration'],
  ['a name of another library', { baseURL: 'x' }, 'appBaseUrl'],
  ['a deep slip', { dpopOptions: { retry: { delai: 1 } } }, 'dpopOptions.retry.delay'],
  ['an expert switch written as text', { fetch: () => undefined }, '[customFetch]'],
])('%s is reported with the nearest name', (_what, options, meant) => {
  expect(messages(options)).toEqual([
    expect.stringMatching(/is not a known option and has no effect\. Did you mean /),
  ])
  expect(messages(options)[0]).toContain(`Did you mean ${meant}?`)
})

test.each([
  ['mfaContextTtl', 'Did you mean mfaTokenTtl?'],
  [
    'customFetch',
    'Did you mean [customFetch]? Its key is the symbol customFetch, which this package exports.',
  ],
  [
    'customClock',
    'Did you mean [customClock]? Its key is the symbol customClock, which this package exports.',
  ],
])('[E2] %s is reported: %s', (name, hint) => {
  expect(messages({ [name]: 1 })).toEqual([`${name} is not a known option and has no effect. ${hint}`])
})

test('[S089] httpOnly is not an option', () => {
  expect(messages({ session: { cookie: { httpOnly: false } } })).toEqual([
    'session.cookie.httpOnly is not a known option and has no effect.',
  ])
})

test('a path as a key is not an option, because only nested objects are read', () => {
  const flat = {
    'session.cookie.secure': true,
    'session.cookie': { secure: true },
    session: { 'cookie.secure': true },
  }
  expect(messages(flat)).toEqual(
    Array(3).fill(expect.stringContaining('is not a known option and has no effect.')),
  )
})

test('names without a similar option have no suggestion, and unprintable ones are not repeated', () => {
  expect(messages({ somethingElse: 1 })).toEqual(['somethingElse is not a known option and has no effect.'])
  expect(messages({ 'a b\n': 1 })).toEqual(['A key in the options is not a known option and has no effect.'])
  expect(messages(JSON.parse('{"__proto__":1,"constructor":2}'))).toHaveLength(2)
})

test('unknown keys of authorizationParameters, vendor and sessionStore are accepted', () => {
  expect(messages({ authorizationParameters: { anything: 1 }, vendor: { anything: 'x' } })).toEqual([])
  expect(messages({ sessionStore: { get() {}, more() {} }, [customFetch]: fetch })).toEqual([])
})

test('a group that is not an object is invalid at any depth; a missing one is valid', () => {
  const problems: Problem[] = []
  const options = {
    routes: ['/in'],
    session: { cookie: 'sid' },
    dpopOptions: { retry: 5 },
    transactionCookie: null,
    dpopKeyPair: undefined,
  }
  checkKeys(options, { options: {}, env: {}, addIssue: (kind, message) => problems.push({ kind, message }) })
  expect(problems).toEqual([
    { kind: 'wrong-option', message: 'routes must be an object.' },
    { kind: 'wrong-option', message: 'session.cookie must be an object.' },
    { kind: 'wrong-option', message: 'dpopOptions.retry must be an object.' },
  ])
})

test('every known path is accepted', () => {
  expect(new Set(optionPaths).size).toBe(optionPaths.length)
  for (const path of optionPaths) {
    const options = path.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), undefined)
    expect(messages(options as object)).toEqual([])
  }
})
