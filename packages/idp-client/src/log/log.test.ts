import { afterEach, describe, expect, test, vi } from 'vitest'
import type { LogEvent } from './log.ts'
import { createLog } from './log.ts'

afterEach(() => vi.restoreAllMocks())

function spies() {
  return {
    warn: vi.spyOn(console, 'warn').mockImplementation(() => {}),
    error: vi.spyOn(console, 'error').mockImplementation(() => {}),
    info: vi.spyOn(console, 'info').mockImplementation(() => {}),
    log: vi.spyOn(console, 'log').mockImplementation(() => {}),
    debug: vi.spyOn(console, 'debug').mockImplementation(() => {}),
  }
}

const failed = {
  level: 'error',
  code: 'REQUEST_FAILED',
  error: 'INTERNAL_ERROR',
  detail: 'It failed.\n  Because.',
  advice: 'Do that.',
  remedy: 'CLIENT_REFUSED',
} as const satisfies LogEvent

describe('without a logger', () => {
  test('warnings and errors are printed to the console', () => {
    const { warn, error } = spies()
    const log = createLog()
    log.emit({ level: 'warn', code: 'CONFIGURATION', message: 'domain is missing.' })
    log.emit({ ...failed, id: 'abc', endpoint: 'token' })
    expect(warn).toHaveBeenCalledExactlyOnceWith('idp-client: CONFIGURATION: domain is missing.')
    expect(error).toHaveBeenCalledExactlyOnceWith(
      'idp-client: REQUEST_FAILED [abc] at token: It failed. Because. Do that. See https://github.com/idp-client/idp-client/blob/main/docs/guides/troubleshooting.md#CLIENT_REFUSED:~:text=CLIENT_REFUSED',
    )
  })

  test('an event without a sentence is printed as JSON', () => {
    const { warn } = spies()
    const event = { level: 'warn', code: 'SESSION_AT_LIMIT', leftOut: ['access token'], limit: 6400 } as const
    createLog().emit(event)
    expect(warn).toHaveBeenCalledExactlyOnceWith(`idp-client: SESSION_AT_LIMIT: ${JSON.stringify(event)}`)
  })

  test('[A1] a failure and its effect on a request are one line', () => {
    const { warn, error } = spies()
    const log = createLog()
    const cause: LogEvent = { ...failed, code: 'PROVIDER_FAILURE', endpoint: 'token', outcome: failed.error }
    log.emitFailure({ cause, outcome: failed })
    expect(error).toHaveBeenCalledOnce()
    expect(error.mock.calls[0]?.[0]).toMatch(/^idp-client: REQUEST_FAILED: /)
    log.emitFailure({ cause })
    expect(error.mock.calls[1]?.[0]).toMatch(/^idp-client: PROVIDER_FAILURE at token: /)
    log.emitFailure({ cause, outcome: { ...failed, level: 'info' } })
    expect(error.mock.calls[2]?.[0]).toMatch(/^idp-client: PROVIDER_FAILURE at token: /)
    log.emitFailure({})
    expect(error).toHaveBeenCalledTimes(3)
    expect(warn).not.toHaveBeenCalled()
  })

  test('[A2] an exception of a hook is printed in development only', () => {
    const { error } = spies()
    const thrown = new Error('of the application')
    createLog().printException(thrown)
    expect(error).not.toHaveBeenCalled()
    const events: LogEvent[] = []
    createLog((event) => events.push(event), true).printException(thrown)
    expect(error).toHaveBeenCalledExactlyOnceWith(thrown)
    expect(events).toEqual([])
  })

  test('other events are not printed', () => {
    const all = spies()
    const log = createLog()
    log.emit({ level: 'info', code: 'LOGIN_COMPLETED' })
    log.emit({ level: 'debug', code: 'SESSION_ROLLED' })
    for (const spy of Object.values(all)) expect(spy).not.toHaveBeenCalled()
  })
})

describe('with a logger', () => {
  test('it receives every event and the console none', () => {
    const all = spies()
    const events: LogEvent[] = []
    const log = createLog((event) => events.push(event))
    const event: LogEvent = { level: 'info', code: 'LOGOUT', strategy: 'oidc', id: 'abc' }
    log.emit(event)
    expect(events).toEqual([event])
    for (const spy of Object.values(all)) expect(spy).not.toHaveBeenCalled()
  })

  test('[A1] it receives both the failure and its effect', () => {
    const events: LogEvent[] = []
    const log = createLog((event) => events.push(event))
    const cause: LogEvent = { ...failed, code: 'PROVIDER_FAILURE', endpoint: 'token', outcome: failed.error }
    log.emitFailure({ cause, outcome: failed })
    expect(events).toEqual([cause, failed])
  })

  test('its exceptions and rejections are ignored', async () => {
    const rejected = vi.fn()
    process.on('unhandledRejection', rejected)
    try {
      createLog(() => {
        throw new Error('sync')
      }).emit({ level: 'info', code: 'LOGIN_COMPLETED' })
      createLog(async () => {
        throw new Error('async')
      }).emit({ level: 'info', code: 'LOGIN_COMPLETED' })
      await new Promise((resolve) => setImmediate(resolve))
      expect(rejected).not.toHaveBeenCalled()
    } finally {
      process.off('unhandledRejection', rejected)
    }
  })
})

describe('once', () => {
  test('reports a message once per process, for any log', () => {
    const events: LogEvent[] = []
    const [first, second] = [
      createLog((event) => events.push(event)),
      createLog((event) => events.push(event)),
    ]
    first.once('log.test: the same')
    second.once('log.test: the same')
    first.once('log.test: another')
    expect(events).toEqual([
      { level: 'warn', code: 'NOTICE', message: 'log.test: the same' },
      { level: 'warn', code: 'NOTICE', message: 'log.test: another' },
    ])
  })

  test('remembers a limited number of messages', () => {
    const told: string[] = []
    const log = createLog((event) => {
      if (event.code === 'NOTICE') told.push(event.message)
    })
    const texts = Array.from({ length: 600 }, (_, index) => `log.test: number ${index}`)
    for (const text of texts) log.once(text)
    for (const text of texts.slice(-100)) log.once(text)
    expect(told).toEqual(texts)
    log.once('log.test: number 0')
    expect(told).toHaveLength(601)
  })
})
