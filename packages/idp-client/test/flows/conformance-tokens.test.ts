import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { decodeJwt } from 'jose'
import { NextRequest } from 'next/server.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import * as onExpress from '../../src/adapters/express/index.ts'
import * as onNext from '../../src/adapters/next/index.ts'
import type {
  AccessToken,
  AccessTokenSet,
  AuthorizationDetail,
  BackchannelAuthenticationOptions,
  ConnectionAccessToken,
  ConnectionTokenSet,
  CustomTokenExchangeOptions,
  GetAccessTokenForConnectionOptions,
  IdpClientOptions,
  TokenSet,
} from '../../src/index.ts'
import { customClock, generateDpopKeyPair, IdpClient } from '../../src/index.ts'
import { protectedApi, startApi } from '../support/api-server.ts'
import type { World } from '../support/app.ts'
import { APP, Browser, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import type { Fault } from '../support/timeouts.ts'
import { toTimeout } from '../support/timeouts.ts'

const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'
const TTL = 600

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

/** The same application at the same provider, for the entry of another host. */
function configured(options: IdpClientOptions = {}): IdpClientOptions {
  return {
    domain: world.provider.issuer,
    clientId: world.provider.clientId,
    clientSecret: world.provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    logger: () => {},
    [customClock]: () => world.clock.now,
    ...options,
  }
}

async function signedIn(options: IdpClientOptions = {}) {
  const made = world.another(options)
  expect((await world.login(made.browser)).status).toBe(302)
  world.provider.clearRequests()
  return made
}

/** A user whose access token has expired, and the cookie header of that browser. */
async function expired(options: IdpClientOptions = {}) {
  const made = await signedIn(options)
  pass(TTL + 1)
  const headers = { cookie: made.browser.request('/').headers.get('cookie') ?? '' }
  return { ...made, headers }
}

/** Calls an operation with request and response, and keeps its cookies as a browser does. */
async function operate<T>(
  browser: Browser,
  operation: (request: Request, response: Response) => Promise<T>,
): Promise<T> {
  const response = new Response()
  const value = await operation(browser.request('/'), response)
  browser.store(response)
  return value
}

async function serve<T>(listener: RequestListener, visit: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    return await visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const tokenOf = async (response: Response): Promise<string> => {
  expect(response.status).toBe(200)
  return ((await response.json()) as { token: string }).token
}

describe('token sets', () => {
  /** Field names of a kind of token set, by the table of the reference. */
  function documentedFields(column: number): string[] {
    const url = new URL('../../../../docs/reference/session.md', import.meta.url)
    const lines = readFileSync(url, 'utf8').split('\n')
    const head = lines.findIndex((line) => line.startsWith('| Field | `TokenSet` |'))
    const length = lines.slice(head).findIndex((line) => !line.startsWith('|'))
    return lines.slice(head + 2, head + length).flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim())
      const isField = (cells[column + 1] ?? '') !== ''
      return isField ? [...(cells[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name) : []
    })
  }

  test('[S015] fields are typed', () => {
    expectTypeOf<TokenSet>().toEqualTypeOf<{
      accessToken: string
      expiresAt: number
      idToken?: string
      refreshToken?: string
      scope?: string
      requestedScope?: string
      audience?: string
      token_type?: string
      authorizationDetails?: AuthorizationDetail[]
    }>()
    expectTypeOf<AccessTokenSet>().toEqualTypeOf<{
      accessToken: string
      expiresAt: number
      audience: string
      scope?: string
      requestedScope?: string
      token_type?: string
      authorizationDetails?: AuthorizationDetail[]
    }>()
    expectTypeOf<ConnectionTokenSet['connection']>().toEqualTypeOf<string>()
  })

  test('[S015,S011] are documented: those of a session with every kind of token set', async () => {
    const { browser, client } = await signedIn({
      authorizationParameters: { audience: API, scope: 'openid profile offline_access read:things' },
    })
    await operate(browser, (request, response) =>
      client.getAccessToken(request, response, { audience: ORDERS, scope: 'read:orders' }),
    )
    await operate(browser, (request, response) =>
      client.getAccessTokenForConnection(request, response, { connection: 'github', login_hint: 'octo' }),
    )
    const session = await client.getSession(browser.request('/'))
    const { accessTokens = [], connectionTokenSets = [], tokenSet } = session ?? {}
    expect(accessTokens).toMatchObject([{ audience: ORDERS, token_type: 'Bearer' }])
    expect(connectionTokenSets).toMatchObject([{ connection: 'github', loginHint: 'octo' }])
    const kinds = [tokenSet, accessTokens[0], connectionTokenSets[0]]
    for (const [index, kind] of kinds.entries()) {
      const names = Object.keys(kind ?? {})
      expect(names).toEqual(expect.arrayContaining(['accessToken', 'expiresAt']))
      expect(documentedFields(index + 1)).toEqual(expect.arrayContaining(names))
    }
  })
})

describe('tokens of several audiences', () => {
  const scope = 'openid offline_access read:things'

  test.each([
    [undefined, 'openid offline_access read:things read:orders'],
    [true, 'openid offline_access read:things read:orders'],
    [false, 'read:orders'],
  ])('[S167,S168,S170,S011] mergeScopes %s sends the scope %j', async (mergeScopes, sent) => {
    const { browser, client } = await signedIn({ authorizationParameters: { audience: API, scope } })
    const options = {
      audience: ORDERS,
      scope: 'read:orders',
      ...(mergeScopes === undefined ? {} : { mergeScopes }),
    }
    const ask = () =>
      operate(browser, (request, response) => client.getAccessToken(request, response, options))
    const token = await ask()
    expect(token).toMatchObject({ audience: ORDERS, token_type: 'Bearer', expiresAt: world.clock.now + TTL })
    expect(token.scope?.split(' ')).toContain('read:orders')
    expect(decodeJwt(token.token)).toMatchObject({ aud: ORDERS, sub: 'dev|alice' })
    expect(world.refreshes().map(({ body }) => [body['audience'], body['scope']])).toEqual([[ORDERS, sent]])
    expect(await ask()).toEqual(token)
    const main = await operate(browser, (request, response) => client.getAccessToken(request, response))
    expect(decodeJwt(main.token)['aud']).toBe(API)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('[S167,S168] parameters that are not set are not sent; a stored token is returned only for what it covers', async () => {
    const { browser, client } = await signedIn({
      authorizationParameters: { audience: API, scope: { [API]: scope, [ORDERS]: 'read:orders' } },
    })
    const ask = (options: onNext.GetAccessTokenOptions) =>
      operate(browser, (request, response) => client.getAccessToken(request, response, options))
    const first = await ask({ audience: ORDERS })
    const [request] = world.refreshes()
    expect(request?.body).toMatchObject({ audience: ORDERS })
    expect(request?.body).not.toHaveProperty('scope')
    expect(await ask({ audience: ORDERS, scope: 'read:orders' })).toEqual(first)
    expect(world.refreshes()).toHaveLength(1)
    await expect(ask({ scope: 'write:things' })).rejects.toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN' })
    expect(world.refreshes()[1]?.body).toMatchObject({ scope: `${scope} write:things` })
    expect(world.refreshes()[1]?.body).not.toHaveProperty('audience')
  })

  test('[S217] a rejected audience or scope is a typed error, and session and token stay', async () => {
    const { browser, client } = await signedIn()
    for (const [code, options] of [
      ['invalid_target', { audience: 'https://unknown.example/' }],
      ['invalid_scope', { scope: 'delete:everything' }],
    ] as const) {
      const asked = client.getAccessToken(browser.request('/'), new Response(), options)
      await expect(asked).rejects.toMatchObject({
        name: 'AccessTokenError',
        code: 'FAILED_TO_REFRESH_TOKEN',
        cause: { name: 'OAuthError', error: code },
      })
    }
    expect(
      (await client.getAccessToken(browser.request('/'), new Response(), { refresh: true })).token,
    ).toBeTruthy()
  })
})

describe('[S213,S216] one refresh on every host', () => {
  test('Express: 50 parallel requests, and late ones with the old cookie', async () => {
    const { browser, headers } = await expired()
    const idp = new onExpress.IdpClient(configured())
    const app = express()
    app.use(idp.middleware)
    app.get('/explicit', async (req, res) => {
      res.json(await idp.getAccessToken(req, res))
    })
    app.get('/ambient', async (_req, res) => {
      res.json(await idp.getAccessToken())
    })
    await serve(app, async (url) => {
      const ask = (style: string) => fetch(`${url}/${style}`, { headers })
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) => ask(index % 2 ? 'explicit' : 'ambient')),
      )
      for (const response of responses)
        expect(response.headers.getSetCookie().some((line) => line.startsWith('__session='))).toBe(true)
      const tokens = await Promise.all(responses.map(tokenOf))
      expect(new Set(tokens).size).toBe(1)
      for (const seconds of [1, 3, 26]) {
        pass(seconds)
        expect(await tokenOf(await ask('explicit'))).toBe(tokens[0])
      }
      browser.store(new Response(null, { headers: responses[49]?.headers ?? {} }))
      expect((await world.client.getSession(browser.request('/')))?.tokenSet.accessToken).toBe(tokens[0])
    })
    expect(world.refreshes()).toHaveLength(1)
  })

  test('Next: 50 requests through proxy and operation, and late ones with the old cookie', async () => {
    const { browser, headers } = await expired()
    const idp = new onNext.IdpClient(configured())
    const ask = async () => {
      const request = new NextRequest(`${APP}/page`, { headers })
      const response = await idp.middleware(request)
      const { token } = await idp.getAccessToken(request, response)
      return { token, response }
    }
    const responses = await Promise.all(Array.from({ length: 50 }, ask))
    expect(new Set(responses.map(({ token }) => token)).size).toBe(1)
    for (const seconds of [1, 3, 26]) {
      pass(seconds)
      expect((await ask()).token).toBe(responses[0]?.token)
    }
    for (const { response } of responses) {
      expect(response.headers.getSetCookie().some((line) => line.startsWith('__session='))).toBe(true)
    }
    browser.store(responses[0]?.response ?? new Response())
    const session = await world.client.getSession(browser.request('/'))
    expect(session?.tokenSet.accessToken).toBe(responses[0]?.token)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('[S066] without tokenRefreshBuffer a token is used until its last second', async () => {
    const { browser, client } = await signedIn()
    const ask = () => operate(browser, (request, response) => client.getAccessToken(request, response))
    const { token } = await ask()
    pass(TTL - 1)
    expect((await ask()).token).toBe(token)
    expect(world.refreshes()).toHaveLength(0)
    pass(1)
    expect((await ask()).token).not.toBe(token)
    expect(world.refreshes()).toHaveLength(1)
  })
})

describe('a provider that fails while tokens expire', () => {
  test('[S213] after ten minutes of failures no session is lost, valid tokens are returned, all recover without a restart', async () => {
    const browsers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const browser = world.newBrowser()
        await world.login(browser, '', { user: index % 2 ? 'alice' : 'bob' })
        return { browser, sub: index % 2 ? 'dev|alice' : 'dev|bob' }
      }),
    )
    const names = browsers.map(({ browser }) => browser.names('__session'))
    await world.provider.faults.down()
    const statuses: number[][] = []
    for (let minute = 1; minute <= 11; minute++) {
      pass(60)
      const responses = browsers.map(async ({ browser }) => {
        expect((await browser.send('/auth/profile')).status).toBe(200)
        expect((await browser.send('/page')).headers.get('x-middleware-next')).toBe('1')
        return (await browser.send('/auth/access-token')).status
      })
      statuses.push([...new Set(await Promise.all(responses))])
    }
    expect(statuses).toEqual([...Array(9).fill([200]), [502], [502]])
    expect(browsers.map(({ browser }) => browser.names('__session'))).toEqual(names)
    world.provider.faults.up()
    for (const { browser, sub } of browsers) {
      await tokenOf(await browser.send('/auth/access-token'))
      const session = await world.client.getSession(browser.request('/'))
      expect(session?.user.sub).toBe(sub)
      expect(session?.tokenSet.expiresAt).toBe(world.clock.now + TTL)
    }
  })

  async function failed(fault: Fault) {
    const { browser, client } = await expired({ httpTimeout: toTimeout(fault) })
    world.provider.faults.set('token', fault)
    const before = browser.cookies.get('__session')?.value
    const recover = async () => {
      expect(world.refreshes()).toHaveLength(1)
      expect(browser.cookies.get('__session')?.value).toBe(before)
      world.provider.faults.clear()
      let response = await browser.send('/auth/access-token')
      // A late response is waited for: calls fail as any outage until it is given up.
      while (response.status === 504) response = await browser.send('/auth/access-token')
      await tokenOf(response)
    }
    return { browser, client, recover }
  }

  test.each<[string, Fault, number]>([
    ['nothing in time', { kind: 'hang' }, 504],
    ['a reset', { kind: 'reset' }, 502],
    ['429', { kind: 'respond', status: 429, headers: { 'retry-after': '7' } }, 503],
    ['503', { kind: 'respond', status: 503, headers: { 'retry-after': '7' } }, 503],
    ['500', { kind: 'respond', status: 500 }, 502],
  ])('a refresh that fails with %s: one request, and the session stays valid', async (...row) => {
    const [, fault, status] = row
    const { browser, recover } = await failed(fault)
    const response = await browser.send('/auth/access-token')
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code: 'FAILED_TO_REFRESH_TOKEN' } })
    await recover()
  })

  const json = { 'content-type': 'application/json' }
  test.each<[string, Fault]>([
    ['a page', { kind: 'respond', body: '<h1>portal</h1>', headers: { 'content-type': 'text/html' } }],
    ['half of a response', { kind: 'respond', body: '{"access_token":"a', headers: json }],
    ['no access_token', { kind: 'respond', body: '{"token_type":"Bearer"}', headers: json }],
    ['no token_type', { kind: 'respond', body: '{"access_token":"a"}', headers: json }],
    ['another type', { kind: 'respond', body: '{"access_token":"a","token_type":"mac"}', headers: json }],
    ['too much', { kind: 'respond', body: `{"access_token":"${'a'.repeat(2_000_000)}"}`, headers: json }],
  ])('a refresh with the response %s is a typed error with its cause too', async (_what, fault) => {
    const { browser, client, recover } = await failed(fault)
    await expect(client.getAccessToken(browser.request('/'), new Response())).rejects.toMatchObject({
      name: 'AccessTokenError',
      code: 'FAILED_TO_REFRESH_TOKEN',
      cause: { name: 'OAuthError', code: 'RESPONSE_INVALID' },
    })
    await recover()
  })
})

describe('operations beside the session', () => {
  test('[S218,S194] token exchange and backchannel authentication do not change the session', async () => {
    const { browser, client } = await signedIn()
    world.provider.settings.cibaAutoApprove = true
    const before = await client.getSession(browser.request('/'))
    const response = await client.middleware(browser.request('/page'), async () => {
      const exchanged = await client.customTokenExchange({
        subjectToken: 'bob',
        subjectTokenType: 'urn:example:user-name',
      })
      const approved = await client.getTokenByBackchannelAuth({
        bindingMessage: 'Order 7',
        loginHint: { sub: 'dev|bob' },
      })
      expect(await client.getSession()).toEqual(before)
      return Response.json([exchanged.accessToken, approved.idTokenClaims.sub, approved.tokenSet.token_type])
    })
    expect(await response.json()).toEqual([expect.any(String), 'dev|bob', 'Bearer'])
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await client.getSession(browser.request('/'))).toEqual(before)
  })

  test('[S173,S174,S175,S176,S178,S179,S191,S192] the types of required options', () => {
    expectTypeOf<GetAccessTokenForConnectionOptions['connection']>().toEqualTypeOf<string>()
    expectTypeOf<onNext.IdpClient['getAccessTokenForConnection']>().toBeCallableWith({ connection: 'a' })
    expectTypeOf<onExpress.IdpClient['getAccessTokenForConnection']>().toBeCallableWith(
      {} as onExpress.FrameworkRequest,
      {} as onExpress.FrameworkResponse,
      { connection: 'a' },
    )
    expectTypeOf<ConnectionAccessToken>().toEqualTypeOf<{
      token: string
      expiresAt: number
      scope?: string
    }>()
    expectTypeOf<AccessToken['expiresAt']>().toEqualTypeOf<number>()
    // @ts-expect-error: connection is required
    const noConnection: GetAccessTokenForConnectionOptions = {}
    // @ts-expect-error: subjectTokenType is required
    const noType: CustomTokenExchangeOptions = { subjectToken: 'a' }
    // @ts-expect-error: subjectToken is required
    const noToken: CustomTokenExchangeOptions = { subjectTokenType: 'urn:example:a' }
    // @ts-expect-error: bindingMessage is required
    const noMessage: BackchannelAuthenticationOptions = { loginHint: { sub: 'a' } }
    // @ts-expect-error: loginHint needs sub
    const noSubject: BackchannelAuthenticationOptions = { bindingMessage: 'a', loginHint: {} }
    expect([noConnection, noType, noToken, noMessage, noSubject]).toHaveLength(5)
  })

  test('[S230] one of secret and key is required', async () => {
    const { client } = world.another({ clientSecret: undefined })
    await expect(client.getAccessToken(new Request(APP))).rejects.toMatchObject({
      name: 'InvalidConfigurationError',
      message: expect.stringMatching(/clientSecret[\s\S]*clientAssertionSigningKey/),
    })
    expect(world.provider.requests()).toEqual([])
    const { browser } = world.another({ clientSecret: world.provider.clientSecret })
    expect((await world.login(browser)).status).toBe(302)
  })
})

test('[S199] the option useDPoP of a fetcher overrides that of the client, in both directions', async () => {
  const dpopKeyPair = await generateDpopKeyPair()
  const api = await startApi(() => ({}))
  for (const useDPoP of [false, true]) {
    const { client } = world.another({ useDPoP, dpopKeyPair })
    await world.login(world.browser)
    const settings = { useDPoP: !useDPoP, baseUrl: api.origin, getAccessToken: () => 'from-elsewhere' }
    const { fetchWithAuth } = await client.createFetcher(world.browser.request('/'), settings)
    await fetchWithAuth('/')
  }
  const sent = api.requests.map(({ headers }) => [headers.authorization, headers['dpop'] !== undefined])
  await api.stop()
  expect(sent).toEqual([
    ['DPoP from-elsewhere', true],
    ['Bearer from-elsewhere', false],
  ])
})

test('[S237] users whose refreshes are retried with nonces at the same time get their own tokens', async () => {
  world.provider.settings.dpopNonces = true
  const { client } = world.another({
    useDPoP: true,
    dpopKeyPair: await generateDpopKeyPair(),
    dpopOptions: { retry: { delay: 5 } },
    authorizationParameters: { audience: API, scope: 'openid offline_access read:things' },
  })
  const users = Array.from({ length: 10 }, (_, index) => (index % 2 ? 'alice' : 'bob'))
  const browsers = await Promise.all(
    users.map(async (user) => {
      const browser = new Browser(client)
      await world.login(browser, '', { user })
      return browser
    }),
  )
  // By now the nonce of the logins is out of date: every refresh is challenged first.
  pass(TTL + 1)
  world.provider.clearRequests()
  const ask = (browser: Browser) => client.getAccessToken(browser.request('/'), new Response())
  const tokens = await Promise.all(browsers.map(ask))
  expect(tokens.map(({ token }) => decodeJwt(token).sub)).toEqual(users.map((user) => `dev|${user}`))
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(users.length)
  const responses = world.refreshes().map(({ status }) => status)
  expect(responses.filter((status) => status === 200)).toHaveLength(users.length)
  expect(responses.filter((status) => status === 400).length).toBeGreaterThan(0)
})

describe('[S029,S037,S234,S235,S237] the FAPI 2.0 profile', () => {
  let strict: World
  beforeAll(async () => {
    strict = await startWorld({}, { dpopNonces: true })
  })
  afterAll(() => strict.provider.stop())

  test('logs in, refreshes, and calls an API that requires proofs with nonces', async () => {
    const { clientId, privateKey } = await strict.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      idTokenSigningAlg: 'ES256',
      requirePar: true,
      requireDpop: true,
      apps: [APP],
    })
    const { browser, client } = strict.another({
      clientId,
      clientSecret: undefined,
      clientAssertionSigningKey: privateKey,
      pushedAuthorizationRequests: true,
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
      dpopOptions: { retry: { delay: 1 } },
      authorizationParameters: { audience: API, scope: 'openid offline_access read:things' },
    })
    expect(client).toBeInstanceOf(IdpClient)
    expect((await strict.login(browser)).status).toBe(302)
    const api = await startApi(protectedApi(strict.provider, { nonces: 'once' }))
    const { fetchWithAuth } = await client.createFetcher(browser.request('/'), new Response(), {
      baseUrl: api.origin,
    })
    const responses = [await fetchWithAuth('/first'), await fetchWithAuth('/second', { refresh: true })]
    for (const response of responses) expect(await response.json()).toMatchObject({ sub: 'dev|alice' })
    const tokens = api.requests.map(({ headers }) => headers.authorization ?? '')
    expect(tokens.every((text) => text.startsWith('DPoP '))).toBe(true)
    expect(new Set(tokens).size).toBe(2)
    await api.stop()
  })
})
