import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { describe as describeError } from '../../src/errors/diagnosis.ts'
import { remedies } from '../../src/errors/remedies.ts'
import type { IdpClientOptions, LogEvent, OnCallbackContext, SessionDataStore } from '../../src/index.ts'
import { IdpError, isIdpError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.events.length = 0
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

type Failure = Extract<LogEvent, { readonly advice: string; readonly error: string }>

const failures = (events: readonly LogEvent[] = world.events): Failure[] =>
  events.filter((event): event is Failure => 'advice' in event && 'error' in event)

/** A client with a hook that writes down what it is told. */
function listening(options: IdpClientOptions = {}) {
  const told: OnCallbackContext[] = []
  const { browser, client } = world.another({ ...options, onCallback: (context) => void told.push(context) })
  return { browser, client, told }
}

const secretRefused = { clientSecret: 'not the one that is registered' }

test('an authorization code that the provider does not accept, as anybody can invent one, is a warning', async () => {
  const browser = world.newBrowser()
  const callback = await world.authorize(await world.begin(browser))
  await browser.send(callback.replace(/code=[^&]*/, 'code=invented'))
  expect(failures()).toEqual([
    expect.objectContaining({ level: 'warn', code: 'PROVIDER_FAILURE', providerError: 'invalid_grant' }),
    expect.objectContaining({ level: 'warn', code: 'LOGIN_FAILED', error: 'AUTHORIZATION_CODE_GRANT_ERROR' }),
  ])
})

describe('[A1] event, hook and page report the same', () => {
  test('if the provider rejects a login', async () => {
    const { browser, told } = listening(secretRefused)
    const page = await (await world.login(browser)).text()
    const [cause, outcome] = failures()
    expect(failures()).toHaveLength(2)
    expect(cause).toMatchObject({
      code: 'PROVIDER_FAILURE',
      endpoint: 'token',
      error: 'OAUTH_ERROR',
      outcome: 'AUTHORIZATION_CODE_GRANT_ERROR',
    })
    expect(outcome).toMatchObject({
      level: 'error',
      code: 'LOGIN_FAILED',
      error: 'AUTHORIZATION_CODE_GRANT_ERROR',
      endpoint: 'token',
      providerError: 'invalid_client',
      status: 401,
      remedy: 'CLIENT_REFUSED',
      advice: remedies.CLIENT_REFUSED,
    })
    expect(outcome?.detail).toMatch(/invalid_client with HTTP status 401/)
    const same = ({ advice, detail, id, remedy }: Failure) => ({ advice, detail, id, remedy })
    expect(cause && same(cause)).toEqual(outcome && same(outcome))
    expect(told).toHaveLength(1)
    expect(told[0]?.error).toMatchObject({ remedy: 'CLIENT_REFUSED' })
    expect(told[0]?.error && describeError(told[0].error)).toBe(outcome?.detail)
    for (const text of [outcome?.detail, remedies.CLIENT_REFUSED, 'CLIENT_REFUSED', outcome?.id])
      expect(page).toContain(text)
    expect(page).toContain('Login is not set up correctly')
  })

  test('if a login does not reach the provider: the login route reports it, with the URL of discovery', async () => {
    const { browser } = world.another({ domain: 'http://127.0.0.1:9' })
    const page = await (await browser.send('/auth/login')).text()
    const outcome = failures().find(({ code }) => code === 'LOGIN_FAILED')
    expect(outcome).toMatchObject({
      error: 'DISCOVERY_ERROR',
      endpoint: 'discovery',
      url: 'http://127.0.0.1:9/.well-known/openid-configuration',
    })
    expect(page).toContain(outcome?.id)
    expect(page).toContain('http://127.0.0.1:9/.well-known/openid-configuration')
  })

  test.each(['production', ''])('with NODE_ENV %o the page has no diagnosis', async (environment) => {
    vi.stubEnv('NODE_ENV', environment)
    const { browser } = world.another({
      domain: 'https://127.0.0.1:9',
      appBaseUrl: 'https://app.example.com',
      clientSecret: 'x',
    })
    for (const headers of [{}, { accept: 'application/json' }]) {
      const text = await (await browser.send('/auth/login', { headers })).text()
      const { detail, remedy, advice } = failures().at(-1) ?? expect.fail('nothing was reported')
      for (const hidden of [detail, advice, remedy === 'DISCOVERY_ERROR' ? '127.0.0.1' : remedy])
        expect(text).not.toContain(hidden)
    }
  })

  test('if several requests share a failure: its cause once, and the effect on each', async () => {
    const own = await startWorld()
    own.provider.faults.set('discovery', { kind: 'respond', status: 503 })
    await Promise.all(Array.from({ length: 5 }, () => own.newBrowser().send('/auth/login')))
    const codesOf = failures(own.events).map(({ code }) => code)
    expect(codesOf.filter((code) => code === 'LOGIN_FAILED')).toHaveLength(5)
    expect(codesOf.filter((code) => code === 'PROVIDER_FAILURE').length).toBeLessThan(5)
    await own.provider.stop()
  })

  test.each([
    [503, 'temporarily_unavailable', 'error'],
    [500, 'server_error', 'error'],
    [429, 'slow_down_please', 'error'],
    [400, 'invalid_scope', 'warn'],
  ] as const)(
    'a response %i with the error %s is logged at level %s: the provider fails, or rejects the request',
    async (status, error, level) => {
      const browser = world.newBrowser()
      await world.login(browser)
      world.clock.now += 4000
      const headers = { 'content-type': 'application/json' }
      world.provider.faults.set('token', {
        kind: 'respond',
        status,
        headers,
        body: JSON.stringify({ error }),
      })
      await expect(world.client.getAccessToken(browser.request('/'))).rejects.toThrow()
      world.clock.now -= 4000
      expect(failures().map(({ code, level }) => [code, level])).toEqual([['PROVIDER_FAILURE', level]])
    },
  )

  test.each([
    ['the user, in a redirect,', 'info', undefined],
    ['the provider, for a wrong secret,', 'error', 403],
  ])('access_denied that is a decision of %s is logged at level %s', async (_who, level, status) => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser), { user: 'alice', deny: !status })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ error: 'access_denied' })
    if (status) world.provider.faults.set('token', { kind: 'respond', status, headers, body })
    await browser.send(callback)
    expect(failures().at(-1)).toMatchObject({ code: 'LOGIN_FAILED', level })
  })

  test('if an operation of the application fails, also if the application catches the error', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    world.clock.now += 4000
    world.provider.faults.set('token', { kind: 'reset' })
    const error: unknown = await world.client
      .getAccessToken(browser.request('/'))
      .catch((thrown: unknown) => thrown)
    world.clock.now -= 4000
    const [event, ...more] = failures()
    expect(more).toEqual([])
    expect(event).toMatchObject({
      code: 'PROVIDER_FAILURE',
      endpoint: 'token',
      systemCode: 'ECONNRESET',
      outcome: 'FAILED_TO_REFRESH_TOKEN',
    })
    expect(error).toMatchObject({ remedy: 'CONNECTION_LOST' })
    expect(isIdpError(error) && describeError(error)).toBe(event?.detail)
  })
})

describe('[A2] hooks', () => {
  class LicenseError extends Error {}
  const thrown = new LicenseError('alice@example.test has no license')
  const throwing = () => {
    throw thrown
  }

  test.each([
    ['onCallback', { onCallback: throwing }],
    ['beforeSessionSaved', { beforeSessionSaved: throwing }],
  ])(
    '%s throws: the event names it and the class, the exception is printed to the console',
    async (hook, options) => {
      const error = vi.spyOn(console, 'error').mockImplementation(() => {})
      const { browser } = world.another(options)
      const page = await (await world.login(browser)).text()
      expect(failures()).toEqual([
        expect.objectContaining({
          code: 'LOGIN_FAILED',
          error: 'HOOK_FAILED',
          hook,
          exception: 'LicenseError',
          remedy: 'HOOK_FAILED',
        }),
      ])
      expect(error.mock.calls).toEqual([[thrown]])
      expect(page).toContain(`${hook} threw (LicenseError)`)
      expect(JSON.stringify(world.events) + page).not.toMatch(/license\b|alice/)
    },
  )

  test('outside development the exception is in the error only', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.stubEnv('NODE_ENV', 'staging')
    const { browser, told } = listening({ beforeSessionSaved: throwing })
    await world.login(browser)
    expect(error).not.toHaveBeenCalled()
    expect(told.at(-1)?.error?.cause).toBe(thrown)
  })

  test('a hook that throws when it receives a failure is reported too', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { browser } = world.another({ ...secretRefused, onCallback: throwing })
    await world.login(browser)
    const outcomes = failures().filter(({ code }) => code === 'LOGIN_FAILED')
    expect(outcomes.map(({ error }) => error)).toEqual(['AUTHORIZATION_CODE_GRANT_ERROR', 'HOOK_FAILED'])
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(1)
  })

  test('a refresh keeps its tokens, and the event names the hook', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    let isArmed = false
    const { browser, client } = world.another({
      beforeSessionSaved: (session) => (isArmed ? throwing() : session),
    })
    await world.login(browser)
    isArmed = true
    world.clock.now += 4000
    expect((await client.getAccessToken(browser.request('/'))).token).toBeTruthy()
    world.clock.now -= 4000
    expect(failures()).toEqual([
      expect.objectContaining({
        code: 'REQUEST_FAILED',
        hook: 'beforeSessionSaved',
        exception: 'LicenseError',
      }),
    ])
  })

  test('any value may be thrown', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const [value, exception] of [
      ['alice', 'string'],
      [undefined, 'undefined'],
      [Object.create(null), 'object'],
      [{ constructor: { name: 'alice@example.test' } }, 'object'],
    ]) {
      world.events.length = 0
      await world.login(world.another({ onCallback: () => Promise.reject(value) }).browser)
      expect(failures()[0]).toMatchObject({ hook: 'onCallback', exception })
      expect(JSON.stringify(world.events)).not.toContain('alice')
    }
  })

  test.each([
    ['three', (_error: unknown, _context: unknown, _session: unknown) => undefined, true],
    ['one', (_context: unknown) => undefined, false],
    ['none', () => undefined, false],
  ])('an onCallback with %s arguments is reported', (_count, hook, isReported) => {
    world.another({ onCallback: hook as IdpClientOptions['onCallback'] & {} })
    const notice = {
      code: 'NOTICE',
      remedy: 'HOOK_SIGNATURE',
      message: expect.stringContaining('onCallback'),
    }
    expect(world.events).toEqual(isReported ? [expect.objectContaining(notice)] : [])
  })
})

describe('[A3] a session that cannot be saved', () => {
  function makeLarge(): () => void {
    return world.provider.tamperIdToken((claims) => {
      claims['groups'] = Array.from({ length: 400 }, () => crypto.randomUUID())
      claims['alice@example.test'] = 'x'.repeat(500)
    })
  }

  test('because of its size: the event has the bytes, the hook receives an error and no success', async () => {
    const { browser, told } = listening()
    const stop = makeLarge()
    const response = await world.login(browser)
    stop()
    expect(response.status).toBe(500)
    expect(told.map(({ error, session }) => [error?.code, session])).toEqual([['SESSION_TOO_LARGE', null]])
    const [event] = failures()
    expect(event).toMatchObject({ code: 'LOGIN_FAILED', error: 'SESSION_TOO_LARGE' })
    expect(event?.bytes).toBeGreaterThan(6400)
    expect(event?.fields?.['user.groups']).toBeGreaterThan(6400)
    expect(JSON.stringify(world.events) + (await response.text())).not.toContain('alice')
    expect(browser.names('__session')).toEqual([])
  })

  test('after beforeSessionSaved: the hook is called once more, with the error', async () => {
    const { browser, told } = listening({ beforeSessionSaved: (session) => session })
    const stop = makeLarge()
    await world.login(browser)
    stop()
    expect(told.map(({ error }) => error?.code)).toEqual([undefined, 'SESSION_TOO_LARGE'])
  })

  test('and the hook may still redirect', async () => {
    const { browser } = world.another({
      onCallback: ({ error }) => (error ? { returnTo: `/failed?code=${error.code}` } : undefined),
    })
    const stop = makeLarge()
    const { headers, status } = await world.login(browser)
    stop()
    expect([status, headers.get('location')]).toEqual([
      302,
      'http://localhost:3000/failed?code=SESSION_TOO_LARGE',
    ])
  })

  test('[A4] because of its store: the operation is reported, no text of the driver', async () => {
    const driver = Object.assign(new Error('SET key alice eyJhbGciOi'), {
      code: 'ECONNREFUSED',
      args: ['alice'],
    })
    const sessionStore: SessionDataStore = {
      ...memoryStore({ name: crypto.randomUUID() }),
      set: () => Promise.reject(driver),
    }
    const { browser, told } = listening({ sessionStore })
    const page = await (await world.login(browser)).text()
    expect(told.map(({ error }) => error?.code)).toEqual([undefined, 'SESSION_STORE_FAILED'])
    expect(told[1]?.error?.cause).toBe(driver)
    expect(failures().map(({ code }) => code)).toEqual(['SESSION_STORE_FAILED', 'LOGIN_FAILED'])
    expect(failures()[1]).toMatchObject({
      operation: 'set',
      reason: 'ECONNREFUSED',
      remedy: 'SESSION_STORE_UNREACHABLE',
    })
    expect(JSON.stringify(world.events) + page).not.toMatch(/alice|eyJ|SET key/)
  })
})

test.each([['useDPoP', { useDPoP: true, dpopKeyPair: undefined }, /dpopKeyPair/]] as const)(
  '[A3] an option that turns out to be invalid at run time is named: %s',
  async (_name, options, named) => {
    const [one, other] = await Promise.all([generate(), generate()])
    const pair = { publicKey: one.publicKey, privateKey: other.privateKey }
    const { browser } = world.another({ ...options, dpopKeyPair: pair })
    const page = await (await browser.send('/auth/login')).text()
    const [event] = failures()
    expect(event).toMatchObject({ code: 'LOGIN_FAILED', error: 'INVALID_CONFIGURATION', remedy: 'DPOP_KEYS' })
    expect(event?.detail).toMatch(named)
    expect(page).toMatch(named)
  },
)

function generate(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
}

test('[J9] errors about where an operation runs name the places where it can', async () => {
  await expect(world.client.getSession()).rejects.toThrow(
    /Pass the request, or call the operation inside the middleware/,
  )
  expect(new IdpError('SESSION_NOT_WRITABLE').message).toMatch(
    /the middleware, a route handler or a Server Action/,
  )
})

test('[J6] the redirect URI is in the event of the login, because a rejected one never comes back', async () => {
  await world.newBrowser().send('/auth/login')
  expect(world.events).toContainEqual(
    expect.objectContaining({
      code: 'LOGIN_STARTED',
      redirectUri: 'http://localhost:3000/auth/callback',
    }),
  )
})
