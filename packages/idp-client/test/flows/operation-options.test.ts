import { describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { IdpClient, isIdpError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
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
