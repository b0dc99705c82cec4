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

describe('without a logger', () => {
  test('warnings and errors go to the console', () => {
    const { warn, error } = spies()
    const log = createLog()
    log.emit({ level: 'warn', code: 'CONFIGURATION', message: 'domain is missing.' })
    log.emit({ level: 'error', code: 'REQUEST_FAILED', error: 'INTERNAL_ERROR', id: 'abc' })
    expect(warn).toHaveBeenCalledExactlyOnceWith('idp-client: CONFIGURATION: domain is missing.')
    expect(error).toHaveBeenCalledExactlyOnceWith(
      'idp-client: REQUEST_FAILED [abc]: {"error":"INTERNAL_ERROR"}',
    )
  })

  test('everything else is silent', () => {
    const all = spies()
    const log = createLog()
    log.emit({ level: 'info', code: 'LOGIN_COMPLETED' })
    log.emit({ level: 'debug', code: 'SESSION_ROLLED' })
    for (const spy of Object.values(all)) expect(spy).not.toHaveBeenCalled()
  })
})

describe('with a logger', () => {
  test('it gets every event and the console none', () => {
    const all = spies()
    const events: LogEvent[] = []
    const log = createLog((event) => events.push(event))
    const event: LogEvent = { level: 'info', code: 'LOGOUT', strategy: 'oidc', id: 'abc' }
    log.emit(event)
    expect(events).toEqual([event])
    for (const spy of Object.values(all)) expect(spy).not.toHaveBeenCalled()
  })

  test('a throw and a rejection stay inside', async () => {
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
  test('tells a text once per process, whichever log tells it', () => {
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

  test('remembers a bounded number of texts', () => {
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
