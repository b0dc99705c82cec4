import { describe, expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { resolveSecrets } from './secrets.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}) {
  const problems: Problem[] = []
  const secrets = resolveSecrets({
    options,
    env,
    addIssue: (kind, message) => problems.push({ kind, message }),
  })
  return { secrets, problems }
}

const hex = '0123456789abcdef'.repeat(4)
const second = 'fedcba9876543210'.repeat(4)
const text32 = 'correct horse battery staple 123'

describe('valid secrets', () => {
  test('[S045] one string is accepted', () => {
    expect(resolveIt({ secret: text32 })).toEqual({ secrets: [text32], problems: [] })
  })

  test('[S046] IDP_SECRET sets it, the option overrides it', () => {
    expect(resolveIt({}, { IDP_SECRET: text32 }).secrets).toEqual([text32])
    expect(resolveIt({ secret: hex }, { IDP_SECRET: text32 }).secrets).toEqual([hex])
  })

  test('[S047,S256] 64 hexadecimal digits or any 32 characters are accepted', () => {
    expect(resolveIt({ secret: hex })).toEqual({ secrets: [hex], problems: [] })
    expect(text32).toHaveLength(32)
  })

  test('a list keeps its order, and its first secret encrypts', () => {
    expect(resolveIt({ secret: [second, hex, second] })).toEqual({ secrets: [second, hex], problems: [] })
  })

  test('[S045] a former secret may be blank, as from a variable that is not set', () => {
    expect(resolveIt({ secret: [hex, ''] })).toEqual({ secrets: [hex], problems: [] })
    expect(resolveIt({ secret: [hex, '', second] }).secrets).toEqual([hex, second])
    expect(resolveIt({ secret: ['', hex] }).secrets).toBeUndefined()
  })

  test('the variable is split at commas only if every part could be a secret', () => {
    expect(resolveIt({}, { IDP_SECRET: `${hex}, ${second}` }).secrets).toEqual([hex, second])
    const withComma = `${hex},short`
    expect(resolveIt({}, { IDP_SECRET: withComma }).secrets).toEqual([withComma])
    expect(resolveIt({ secret: `${hex},${second}` }).secrets).toEqual([`${hex},${second}`])
  })
})

describe('weak secrets', () => {
  test.each([
    ['short', 'a'.repeat(15) + 'b'.repeat(16)],
    ['one repeated character', 'x'.repeat(64)],
    ['a short one in a list', [hex, 'short']],
    ['a repeated one in a list', [hex, '0'.repeat(64)]],
  ])('[S256] %s is rejected', (_what, secret) => {
    const { secrets, problems } = resolveIt({ secret })
    expect(secrets).toBeUndefined()
    expect(problems).toEqual([
      { kind: 'missing', message: expect.stringMatching(/secret is too weak.*at least 32/) },
    ])
  })

  test('[S256] a weak variable is named, and its value is not repeated', () => {
    const { problems } = resolveIt({}, { IDP_SECRET: 'hunter2' })
    expect(problems).toEqual([
      { kind: 'missing', message: expect.stringContaining('IDP_SECRET is too weak') },
    ])
    expect(problems[0]?.message).not.toContain('hunter2')
  })

  test('the variable is not used in place of a weak option', () => {
    expect(resolveIt({ secret: 'weak' }, { IDP_SECRET: hex }).secrets).toBeUndefined()
  })

  test('each part of a split variable is checked', () => {
    expect(resolveIt({}, { IDP_SECRET: `${hex},${'0'.repeat(40)}` }).secrets).toBeUndefined()
  })
})

test('[S251,S253] if it is missing, the message names both ways to set it and the command', () => {
  for (const options of [{}, { secret: '' }, { secret: [] }]) {
    expect(resolveIt(options)).toEqual({
      secrets: undefined,
      problems: [
        {
          kind: 'missing',
          message: expect.stringMatching(/option secret or the variable IDP_SECRET.*idp-client secret/),
        },
      ],
    })
  }
})

test.each([7, {}, [hex, 7], [null]])('rejects %j', (secret) => {
  expect(resolveIt({ secret: secret as string }).problems).toMatchObject([{ kind: 'wrong-option' }])
})
