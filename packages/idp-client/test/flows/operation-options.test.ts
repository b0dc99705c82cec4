import { afterEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { IdpClient, isIdpError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { SECRET } from '../support/engine.ts'

const options: IdpClientOptions = {
  domain: 'idp.invalid',
  clientId: 'client',
  clientSecret: 'client-secret',
  secret: SECRET,
  appBaseUrl: 'https://app.example.com',
  sessionStore: memoryStore({ name: crypto.randomUUID() }),
  logger: () => {},
}
const client = new IdpClient(options)

/** Calls as JavaScript allows it; gives what was thrown. */
async function thrownBy(self: object, name: string, given: readonly unknown[]): Promise<unknown> {
  const operation: unknown = Reflect.get(self, name)
  if (typeof operation !== 'function') throw new Error(`there is no ${name}`)
  try {
    await Reflect.apply(operation, self, given)
  } catch (thrown) {
    return thrown
  }
  return undefined
}

describe('[E2] operations without options, or with another value in their place', () => {
  const given: readonly unknown[][] = [[], [null], [undefined, undefined], ['text'], [7], [[]]]

  test.each(given.map((each) => [each]))('customTokenExchange: %j', async (each) => {
    expect(await thrownBy(client, 'customTokenExchange', each)).toMatchObject({
      name: 'CustomTokenExchangeError',
      code: 'MISSING_SUBJECT_TOKEN',
    })
  })

  test.each(given.map((each) => [each]))('getTokenByBackchannelAuth: %j', async (each) => {
    expect(await thrownBy(client, 'getTokenByBackchannelAuth', each)).toMatchObject({
      name: 'BackchannelAuthenticationError',
      code: 'INVALID_BACKCHANNEL_REQUEST',
      message: expect.stringContaining('bindingMessage'),
    })
  })

  test('none throws anything but an error of the library', async () => {
    const request = new Request('https://app.example.com/')
    const operations = [
      'getAccessToken',
      'getAccessTokenForConnection',
      'connectAccount',
      'deleteConnectedAccount',
      'createFetcher',
      'startInteractiveLogin',
      'updateSession',
    ]
    const calls: [object, string][] = [
      ...operations.map((name): [object, string] => [client, name]),
      ...['getAuthenticators', 'challenge', 'enroll', 'verify'].map((name): [object, string] => [
        client.mfa,
        name,
      ]),
    ]
    for (const [self, name] of calls) {
      for (const each of [...given, [request], [request, null], [request, new Headers(), null]]) {
        const thrown = await thrownBy(self, name, each)
        expect(thrown === undefined || isIdpError(thrown), `${name}: ${thrown}`).toBe(true)
      }
    }
  })
})

describe('[E2] createFetcher', () => {
  const request = new Request('https://app.example.com/')

  test.each([
    ['baseURL', /baseURL is not a known option. Did you mean baseUrl\?/],
    ['base_url', /base_url is not a known option. Did you mean baseUrl\?/],
    ['baseurl', /Did you mean baseUrl\?/],
    ['useDpop', /Did you mean useDPoP\?/],
    ['getAccesToken', /Did you mean getAccessToken\?/],
    ['headers', /headers is not a known option. It takes useDPoP, getAccessToken, baseUrl, fetch\./],
    ['a b\n', /a key is not a known option/],
  ])('%j is rejected, because the token could be sent to any origin', async (name, message) => {
    const fetcher = { getAccessToken: () => 'token', [name]: 'https://api.example.com' }
    const thrown = await thrownBy(client, 'createFetcher', [request, fetcher])
    expect(thrown).toMatchObject({ name: 'InvalidConfigurationError', code: 'INVALID_CONFIGURATION' })
    expect(String(thrown)).toMatch(message)
  })

  test('an option that is undefined counts as missing', async () => {
    const fetcher = { getAccessToken: () => 'token', baseURL: undefined }
    expect(await thrownBy(client, 'createFetcher', [request, fetcher])).toMatchObject({
      code: 'MISSING_SESSION',
    })
  })
})

describe('[N4] unknown options of operations', () => {
  const events: LogEvent[] = []
  const reporting = new IdpClient({ ...options, logger: (event) => events.push(event) })
  const request = new Request('https://app.example.com/')
  const notices = () => events.flatMap((event) => (event.code === 'NOTICE' ? [event.message] : []))

  afterEach(() => {
    events.length = 0
    // Each test is a process of its own: notices come once in each.
    Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  })

  test('a name with control characters is not repeated, though it resembles a known one', async () => {
    await thrownBy(reporting, 'getAccessToken', [{ 'scope\n': 'a' }, request])
    expect(notices()).toEqual([expect.stringContaining('an unknown option')])
  })

  test.each<[string, object, string, string]>([
    ['getAccessToken', { refesh: true }, 'refesh', 'refresh'],
    ['getAccessToken', { Audience: 'a' }, 'Audience', 'audience'],
    ['startInteractiveLogin', { returnto: '/' }, 'returnto', 'returnTo'],
    ['startInteractiveLogin', { authorizationParams: {} }, 'authorizationParams', 'authorizationParameters'],
    ['connectAccount', { conection: 'a' }, 'conection', 'connection'],
    ['getAccessTokenForConnection', { loginHint: 'a' }, 'loginHint', 'login_hint'],
    ['deleteConnectedAccount', { Id: 'a' }, 'Id', 'id'],
    ['customTokenExchange', { subject_token: 'a' }, 'subject_token', 'subjectToken'],
    ['getTokenByBackchannelAuth', { bindingmessage: 'a' }, 'bindingmessage', 'bindingMessage'],
    ['mfa.verify', { mfa_token: 'a' }, 'mfa_token', 'mfaToken'],
    ['mfa.challenge', { challengetype: 'otp' }, 'challengetype', 'challengeType'],
    ['mfa.enroll', { factortype: 'otp' }, 'factortype', 'factorType'],
    ['mfa.getAuthenticators', { mfatoken: 'a' }, 'mfatoken', 'mfaToken'],
  ])('of %s are reported once, with the name that was meant: %j', async (name, given, misspelt, meant) => {
    const self = name.startsWith('mfa.') ? reporting.mfa : reporting
    for (let times = 0; times < 2; times++) await thrownBy(self, name.replace('mfa.', ''), [given, request])
    expect(notices()).toEqual([
      `${name}: ${misspelt} is not a known option and has no effect. Did you mean ${meant}?`,
    ])
  })

  test('several misspellings of one name are reported once: a spread query could have any number of them', async () => {
    for (const name of ['refesh', 'refres', 'Refresh'])
      await thrownBy(reporting, 'getAccessToken', [{ [name]: true }, request])
    expect(notices()).toEqual([expect.stringContaining('refesh is not a known option')])
  })

  test('a name that resembles none is not repeated: it may be input', async () => {
    for (const name of ['password123', 'another'])
      await thrownBy(reporting, 'getAccessToken', [{ [name]: 1 }, request])
    expect(notices()).toEqual([
      'getAccessToken was called with an unknown option, which has no effect. Its options are refresh, scope, audience, mergeScopes.',
    ])
  })

  test('known ones, undefined ones and an account of the list are not reported', async () => {
    await thrownBy(reporting, 'getAccessToken', [{ refresh: true, scope: 'a', refesh: undefined }, request])
    const account = {
      id: 'a',
      connection: 'b',
      scopes: [],
      created_at: 'c',
      expires_at: 'd',
      access_type: 'e',
    }
    await thrownBy(reporting, 'deleteConnectedAccount', [account, request])
    expect(notices()).toEqual([])
  })

  test('of the token of a fetcher are reported, misspelt or among the options of fetch', async () => {
    const { sessionStore: _none, ...inCookies } = options
    const idp = new IdpClient({ ...inCookies, logger: (event) => events.push(event) })
    const cookie = await generateCookieHeader({ user: { sub: 'alice' } }, { secret: SECRET })
    const fetch = async () => new Response()
    const signedIn = new Request('https://app.example.com/', { headers: { cookie } })
    const fetcher = { baseUrl: 'https://api.example.com', fetch, getAccessToken: () => 'token' }
    const { fetchWithAuth } = await idp.createFetcher(signedIn, fetcher)
    const calls: [object, object?][] = [
      [{}, { refesh: true }],
      [{ method: 'POST', audience: 'https://other.example' }],
      [{ Scopes: 'read:things' }],
      [{ method: 'POST', cf: {}, dispatcher: {} }],
      [{ scope: 'read:things', mergeScopes: false }],
    ]
    for (const [second, third] of calls) await fetchWithAuth('/', second, third)
    const misplaced = (name: string) =>
      `fetchWithAuth: an option that fetch does not have has no effect. Did you mean ${name}? Pass the options of the token alone, or after those of fetch.`
    expect(notices()).toEqual([
      'fetchWithAuth: an unknown option of the token has no effect. Did you mean refresh?',
      misplaced('audience'),
      misplaced('scope'),
    ])
  })

  test('a guard refuses them, with the name that was meant', () => {
    const handler = () => new Response()
    expect(() => reporting.withPageAuthRequired(handler, { returnT0: '/' } as object)).toThrow(
      'withPageAuthRequired: returnT0 is not an option of this guard. Did you mean returnTo?',
    )
    expect(() => reporting.withApiAuthRequired(handler, { scopes: 'a' } as object)).toThrow(
      'Did you mean scope?',
    )
    expect(() => reporting.withApiAuthRequired(handler, { roles: 'a' } as object)).toThrow(
      'It takes accept, sameOrigin, maxAge, acr, amr, organization, scope, authorize.',
    )
  })
})
