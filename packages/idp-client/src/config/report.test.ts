import { describe, expect, test, vi } from 'vitest'
import { isIdpError } from '../errors/base.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { LogEvent } from '../log/log.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { configurationError, report } from './report.ts'
import { resolve } from './resolve.ts'

function construct(options: IdpClientOptions, env: Env = {}) {
  const events: LogEvent[] = []
  let thrown: unknown
  try {
    report(resolve({ ...options, logger: (event) => events.push(event) }, env))
  } catch (error) {
    thrown = error
  }
  return { events, thrown }
}

const complete = {
  domain: 'tenant.example.com',
  clientId: 'client-1',
  clientSecret: 'client-secret',
  secret: '0123456789abcdef'.repeat(4),
}

describe('[A5] several evaluations of the module in one process, as in next build,', () => {
  test('report the same problem once, and another problem again', async () => {
    const events: LogEvent[] = []
    const logger = (event: LogEvent) => events.push(event)
    const incomplete = { ...complete, clientId: undefined, seldom: 1, logger } as IdpClientOptions
    report(resolve(incomplete, {}))
    // Each construction of one evaluation speaks for itself.
    report(resolve(incomplete, {}))
    expect(events.splice(0).map(({ code }) => code)).toEqual([
      'NOTICE',
      'CONFIGURATION',
      'NOTICE',
      'CONFIGURATION',
    ])
    for (let times = 0; times < 3; times++) {
      vi.resetModules()
      const another = await import('./report.ts')
      another.report(resolve(incomplete, {}))
      expect(events).toEqual([])
      expect(() => another.report(resolve({ ...incomplete, httpTimeout: -1 }, {}))).toThrow('httpTimeout')
    }
    events.length = 0
    const other = await import('./report.ts')
    other.report(resolve({ ...incomplete, domain: undefined }, {}))
    expect(events.map(({ code }) => code)).toEqual(['CONFIGURATION'])
  })
})

describe('report', () => {
  test('a complete configuration reports nothing', () => {
    expect(construct(complete)).toEqual({ events: [], thrown: undefined })
  })

  test('[S249,S250,S251,S252,S253,S254] one warning names everything that is missing, with option and variable', () => {
    const { events, thrown } = construct({})
    expect(thrown).toBeUndefined()
    expect(events).toMatchObject([{ level: 'warn', code: 'CONFIGURATION' }])
    const text = JSON.stringify(events)
    for (const name of ['domain', 'clientId', 'secret', 'clientSecret', 'clientAssertionSigningKey']) {
      expect(text).toContain(name)
    }
    for (const name of ['IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_SECRET', 'IDP_CLIENT_SECRET'])
      expect(text).toContain(name)
  })

  test('an invalid variable is part of the same warning', () => {
    const { events, thrown } = construct({ ...complete, domain: undefined }, { IDP_COOKIE_SECURE: 'perhaps' })
    expect(thrown).toBeUndefined()
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).toMatch(/domain is missing.*IDP_COOKIE_SECURE must be true or false/)
  })

  test('[S245] an invalid option throws, and the error also lists what is missing', () => {
    const { events, thrown } = construct({ ...complete, clientId: undefined, logoutStrategy: 'x' as 'v2' })
    expect(thrown).toBeInstanceOf(InvalidConfigurationError)
    expect(isIdpError(thrown, 'INVALID_CONFIGURATION')).toBe(true)
    expect(String(thrown)).toMatch(/clientId is missing[\s\S]*logoutStrategy must be one of/)
    expect(events).toEqual([])
  })

  test('each notice is reported separately, also after a warning or an error', () => {
    const odd = { session: { rollingDuration: 1 }, transactionCookie: { duration: 1 } } as IdpClientOptions
    expect(construct({ ...complete, ...odd }).events.map(({ code }) => code)).toEqual(['NOTICE', 'NOTICE'])
    expect(construct(odd).events.map(({ code }) => code)).toEqual(['NOTICE', 'NOTICE', 'CONFIGURATION'])
    expect(construct({ ...odd, httpTimeout: -1 }).events.map(({ code }) => code)).toEqual([
      'NOTICE',
      'NOTICE',
    ])
  })

  test('a logger that throws does not interrupt the construction', () => {
    const logger = () => {
      throw new Error('full disk')
    }
    expect(() => report(resolve({ logger }, {}))).not.toThrow()
  })
})

describe('configurationError', () => {
  test('lists the issues that prevent a configuration, not the notices', () => {
    const error = configurationError([
      { kind: 'missing', message: 'domain is missing.' },
      { kind: 'notice', message: 'x is not a known option.' },
      { kind: 'wrong-variable', message: 'IDP_COOKIE_PATH must begin with /.' },
    ])
    expect(error.code).toBe('INVALID_CONFIGURATION')
    expect(error.message).toContain('\n  - domain is missing.\n  - IDP_COOKIE_PATH must begin with /.')
    expect(error.message).not.toContain('x is not a known option')
  })
})
