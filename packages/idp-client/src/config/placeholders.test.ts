import { describe, expect, test } from 'vitest'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { resolve } from './resolve.ts'

const SECRET = '0123456789abcdef'.repeat(4)
const complete = {
  domain: 'tenant.example.com',
  clientId: 'client-1',
  clientSecret: 'client-secret',
  secret: SECRET,
} satisfies IdpClientOptions

const placeholderOf = (options: IdpClientOptions, env: Env = {}) => {
  const { config, problems } = resolve(options, env)
  const named = problems.filter(({ message }) => message.includes('placeholder'))
  return { usable: config !== null, named: named.map(({ kind, message }) => `${kind}: ${message}`) }
}

describe('[N4] placeholders', () => {
  test.each([
    '<your client id>',
    'undefined',
    'null',
    'changeme',
    'change-me',
    'CHANGE_ME',
    'REPLACE_ME',
    '\u0024{IDP_CLIENT_ID}',
    '{{client_id}}',
    '$IDP_CLIENT_ID',
    'TODO',
    'xxxxxx',
    '...',
  ])('%s is no value of an option or a variable', (value) => {
    for (const name of ['clientId', 'clientSecret', 'secret'] as const) {
      expect(placeholderOf({ ...complete, [name]: value })).toEqual({
        usable: false,
        named: [`missing: ${name} is a placeholder that was not replaced, and counts as missing.`],
      })
    }
    const { clientId: _, ...others } = complete
    expect(placeholderOf(others, { IDP_CLIENT_ID: value })).toEqual({
      usable: false,
      named: ['missing: IDP_CLIENT_ID is a placeholder that was not replaced, and counts as missing.'],
    })
    // An option takes precedence over its variable.
    expect(placeholderOf(complete, { IDP_CLIENT_ID: value })).toEqual({ usable: true, named: [] })
  })

  test.each(['changeme', 'TODO', '<your domain>', 'undefined'])('%s is no address', (value) => {
    for (const name of ['domain', 'appBaseUrl'] as const) {
      const { named, usable } = placeholderOf({ ...complete, [name]: value })
      expect(usable).toBe(false)
      expect(named).toEqual([expect.stringContaining(`${name} `)])
    }
  })

  test.each([
    'your-secret-with-at-least-32-characters',
    'change-this-to-32-random-characters!',
    `${SECRET},your-secret-with-at-least-32-characters`,
  ])('nobody uses the secret of an example: %s', (secret) => {
    expect(placeholderOf({ ...complete, secret })).toEqual({
      usable: false,
      named: ['missing: secret is a placeholder that was not replaced, and counts as missing.'],
    })
  })

  test.each<[keyof typeof complete | 'appBaseUrl', string]>([
    ['clientId', 'x'],
    ['clientId', 'your-client-id'],
    ['clientSecret', 'YOUR_CLIENT_SECRET'],
    ['domain', 'your-tenant.example.com'],
    ['appBaseUrl', 'https://your-app.example.com'],
  ])('a possible value is reported, and used: %s %s', (name, value) => {
    expect(placeholderOf({ ...complete, [name]: value })).toEqual({
      usable: true,
      named: [`notice: ${name} looks like a placeholder of an example: replace it by your own value.`],
    })
  })

  test('parameters of the authorization request are checked', () => {
    const authorizationParameters = { audience: '<your API>', organization: undefined }
    expect(placeholderOf({ ...complete, authorizationParameters })).toEqual({
      usable: false,
      named: [
        'missing: authorizationParameters.audience is a placeholder that was not replaced, and counts as missing.',
      ],
    })
  })

  test.each(['nullpunkt', 'undefined-labs', 'xavier', 'todo-app', 'yours', 'my-app'])(
    '%s is a client id',
    (clientId) => {
      expect(placeholderOf({ ...complete, clientId })).toEqual({ usable: true, named: [] })
    },
  )
})

describe('quotes around a value', () => {
  const { clientId: _id, clientSecret: _secret, ...others } = complete

  test.each([
    ['IDP_CLIENT_ID', '"client-1"'],
    ['IDP_CLIENT_SECRET', "'client-secret'"],
  ])('%s is reported, and used', (name, value) => {
    const env = { IDP_CLIENT_ID: 'client-1', IDP_CLIENT_SECRET: 'client-secret', [name]: value }
    const { config, problems } = resolve(others, env)
    expect(config).not.toBeNull()
    expect(problems).toEqual([
      {
        kind: 'notice',
        message: expect.stringMatching(new RegExp(`^${name} begins and ends with a quotation mark`)),
      },
    ])
  })

  test.each(['"', '"a', `a"`, `"a'`, 'a"b"c'])('%s is a value like any other', (clientSecret) => {
    expect(resolve({ ...complete, clientSecret }, {}).problems).toEqual([])
  })
})
