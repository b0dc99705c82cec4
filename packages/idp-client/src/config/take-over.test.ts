import { describe, expect, test } from 'vitest'
import { memoryStore } from '../stores/memory.ts'
import type { TakeOver } from '../take-over/take-over.ts'
import type { Resolved } from './config.ts'
import type { IdpClientOptions } from './options.ts'
import { customClock } from './options.ts'
import { resolve } from './resolve.ts'

const NOW = Date.UTC(2027, 0, 1, 12) / 1000

const valid: TakeOver = { until: '2027-01-31', cookies: 'former', read: () => null }

function resolveIt(takeOver: unknown, options: IdpClientOptions = {}): Resolved {
  const required = {
    domain: 'idp.example.com',
    clientId: 'client',
    clientSecret: 'secret',
    secret: '0123456789abcdef0123456789abcdef',
    appBaseUrl: 'https://app.example.com',
    [customClock]: () => NOW,
  }
  return resolve({ ...required, ...options, takeOver } as IdpClientOptions, { NODE_ENV: 'test' })
}

const messages = (takeOver: unknown, options?: IdpClientOptions): string[] =>
  resolveIt(takeOver, options).problems.map(({ kind, message }) => `${kind}: ${message}`)

describe('takeOver', () => {
  test('is resolved with its defaults', () => {
    const { config, problems } = resolveIt(valid)
    expect(problems).toEqual([])
    expect(config?.takeOver).toMatchObject({
      library: 'custom',
      path: '/',
      cookies: ['former'],
      until: Date.UTC(2027, 0, 31) / 1000,
    })
    expect(resolveIt(undefined).config?.takeOver).toBeUndefined()
  })

  test('calls read as a method of the given object', () => {
    const given = {
      ...valid,
      user: { sub: 'alice' },
      read() {
        return { user: this.user, createdAt: 1 }
      },
    }
    const { user: _user, ...known } = given
    const { config } = resolveIt(Object.assign(Object.create({ user: given.user }), known))
    expect(config?.takeOver?.read({ get: () => undefined, names: () => [] })).toMatchObject({
      user: { sub: 'alice' },
    })
  })

  const wrong: readonly (readonly [unknown, string])[] = [
    [true, 'takeOver must be an object.'],
    [[valid], 'takeOver must be an object.'],
    [{ ...valid, secret: 'x' }, 'takeOver has an unknown property'],
    [{ ...valid, until: undefined }, 'takeOver.until must be a date'],
    [{ ...valid, until: new Date() }, 'takeOver.until must be a date'],
    [{ ...valid, until: '2027-02-30' }, 'takeOver.until must be a date'],
    [{ ...valid, until: '2027-01-31T00:00:00.000Z' }, 'takeOver.until must be a date'],
    [{ ...valid, until: NOW + 60 }, 'takeOver.until must be a date'],
    [{ ...valid, until: '2027-04-02' }, 'takeOver.until must be at most 90 days ahead'],
    [{ ...valid, until: '2028-01-01' }, 'takeOver.until must be at most 90 days ahead'],
    [{ ...valid, cookies: undefined }, 'takeOver.cookies must be a name of a cookie'],
    [{ ...valid, cookies: [] }, 'takeOver.cookies must be a name of a cookie'],
    [{ ...valid, cookies: ['a', 1] }, 'takeOver.cookies must be a name of a cookie'],
    [{ ...valid, cookies: 'a b' }, 'takeOver.cookies must be a name of a cookie'],
    [{ ...valid, library: 'a b' }, 'takeOver.library must be a name'],
    [{ ...valid, path: 1 }, 'takeOver.path must be a string.'],
    [{ ...valid, domain: {} }, 'takeOver.domain must be a string.'],
    [{ ...valid, read: 'session' }, 'takeOver.read must be a function.'],
  ]

  test.each(wrong)('%j is an error', (given, message) => {
    const [first = ''] = messages(given)
    expect(first).toContain(`wrong-option: ${message}`)
  })

  test('the last possible day, and one that is past', () => {
    expect(messages({ ...valid, until: '2027-04-01' })).toEqual([])
    const past = resolveIt({ ...valid, until: '2027-01-01' })
    expect(past.config?.takeOver).toBeUndefined()
    expect(past.problems).toMatchObject([{ kind: 'notice' }])
  })

  test.each(['lock', 'once', 'endedAt', 'rememberEnd'] as const)('a store without %s is an error', (name) => {
    const { [name]: _without, ...sessionStore } = memoryStore()
    expect(messages(valid, { sessionStore })).toEqual([
      `wrong-option: takeOver requires a sessionStore with the functions lock, once, endedAt, rememberEnd: it has no ${name}.`,
    ])
    expect(messages(valid, { sessionStore: memoryStore() })).toEqual([])
  })
})
