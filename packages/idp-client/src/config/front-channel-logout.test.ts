import { describe, expect, test } from 'vitest'
import type { Problem } from './config.ts'
import { isFrontChannelLogoutOn, resolveFrontChannelLogout } from './front-channel-logout.ts'
import type { IdpClientOptions, SessionDataStore } from './options.ts'

const {
  get,
  set,
  delete: remove,
}: SessionDataStore = {
  get: async () => null,
  set: async () => undefined,
  delete: async () => undefined,
}
const store: SessionDataStore = { get, set, delete: remove, deleteByLogoutToken: async () => undefined }

function resolveIt(given: unknown, sessionStore: SessionDataStore | undefined = store) {
  const problems: Problem[] = []
  const options = { frontChannelLogout: given, ...(sessionStore ? { sessionStore } : {}) } as IdpClientOptions
  const source = {
    options,
    env: {},
    addIssue: (kind: Problem['kind'], message: string) => problems.push({ kind, message }),
  }
  return { isOn: isFrontChannelLogoutOn(source), value: resolveFrontChannelLogout(source), problems }
}

test.each([undefined, null, '', false])('%o leaves it off', (given) => {
  expect(resolveIt(given)).toEqual({ isOn: false, value: undefined, problems: [] })
})

const accepted: [unknown, boolean, readonly string[]][] = [
  [true, false, []],
  [{}, false, []],
  [{ issuer: undefined, frameAncestors: undefined }, false, []],
  [{ issuer: 'required' }, false, []],
  [{ issuer: 'optional' }, true, []],
  [{ frameAncestors: 'https://Login.Example.com/' }, false, ['https://login.example.com']],
  [
    { frameAncestors: ['https://a.example:8443', 'http://localhost:4400'] },
    false,
    ['https://a.example:8443', 'http://localhost:4400'],
  ],
]

test.each(accepted)('%o is accepted', (given, isIssuerOptional, frameAncestors) => {
  expect(resolveIt(given)).toEqual({ isOn: true, value: { isIssuerOptional, frameAncestors }, problems: [] })
})

const refused: [unknown, string][] = [
  ['optional', 'frontChannelLogout must be true, false or an object.'],
  [1, 'frontChannelLogout must be true, false or an object.'],
  [[], 'frontChannelLogout must be true, false or an object.'],
  [{ issuer: 'none' }, "frontChannelLogout.issuer must be 'required' or 'optional'."],
  [{ issuer: false }, "frontChannelLogout.issuer must be 'required' or 'optional'."],
  [{ isuer: 'optional' }, 'frontChannelLogout has an unknown property; there are issuer and frameAncestors.'],
  ...[
    '*',
    "'self'",
    'https://*.example.com',
    'https://a.example/path',
    'https://a.example; script-src *',
    'https://a.example https://b.example',
    'login.example.com',
    'data:text/html,x',
    ['https://a.example', 1],
    {},
  ].map((frameAncestors): [unknown, string] => [
    { frameAncestors },
    'frontChannelLogout.frameAncestors must be an origin such as https://login.example.com, or an array of origins.',
  ]),
]

describe('values that are refused', () => {
  test.each(refused)('%o', (given, message) => {
    expect(resolveIt(given).problems).toEqual([{ kind: 'wrong-option', message }])
  })
})

test.each([
  ['sessions in cookies', null],
  ['a store without deleteByLogoutToken', { get, set, delete: remove }],
])('%s is an error of the configuration', (_title, sessionStore) => {
  const { problems } = resolveIt(true, (sessionStore ?? {}) as SessionDataStore)
  expect(problems).toEqual([
    {
      kind: 'wrong-option',
      message:
        'frontChannelLogout requires sessionStore with the function deleteByLogoutToken: a session in a cookie cannot be ended by its sid.',
    },
  ])
})
