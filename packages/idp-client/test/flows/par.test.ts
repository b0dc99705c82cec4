import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import type { Fault } from '../support/timeouts.ts'
import { toTimeout } from '../support/timeouts.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ pushedAuthorizationRequests: true })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})

const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)

function respondWith(requestUri: unknown, status = 201): Fault {
  return {
    kind: 'respond',
    status,
    body: JSON.stringify({ request_uri: requestUri, expires_in: 60 }),
    headers: { 'content-type': 'application/json' },
  }
}

describe('pushed authorization requests', () => {
  test('[S036] are off by default: the browser sends all parameters, nothing is pushed', async () => {
    const { browser } = world.another({ pushedAuthorizationRequests: undefined })
    const sent = parametersOf(await world.begin(browser))
    expect(sent).toMatchObject({ response_type: 'code', state: expect.any(String) })
    expect(sent).not.toHaveProperty('request_uri')
    expect(world.provider.count('par')).toBe(0)
  })

  test('[S037] send everything to the provider, and the browser sends a reference', async () => {
    const browser = world.newBrowser()
    const url = await world.begin(browser, '?returnTo=/after&ui_locales=de&login_hint=alice')
    expect(parametersOf(url)).toEqual({
      client_id: world.provider.clientId,
      request_uri: expect.stringMatching(/^urn:/),
    })
    const [pushed] = world.provider.requests('par')
    expect(pushed).toMatchObject({
      method: 'POST',
      query: {},
      headers: {
        'content-type': expect.stringContaining('application/x-www-form-urlencoded'),
        authorization: expect.stringMatching(/^Basic /),
      },
      body: {
        client_id: world.provider.clientId,
        redirect_uri: 'http://localhost:3000/auth/callback',
        response_type: 'code',
        scope: 'openid profile email offline_access',
        state: expect.any(String),
        nonce: expect.any(String),
        code_challenge: expect.any(String),
        code_challenge_method: 'S256',
        ui_locales: 'de',
        login_hint: 'alice',
      },
    })
    expect(pushed?.body).not.toHaveProperty('client_secret')
    const response = await browser.send(await world.authorize(url))
    expect(response.headers.get('location')).toBe('http://localhost:3000/after')
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'LOGIN_STARTED', method: 'par' }))
  })

  test('have a new reference per login; a configured request_uri is never pushed', async () => {
    const { browser } = world.another({ authorizationParameters: { request_uri: 'https://app.example/r' } })
    const first = parametersOf(await world.begin(browser))
    const second = parametersOf(await world.begin(browser))
    expect(first['request_uri']).not.toBe(second['request_uri'])
    const pushed = world.provider.requests('par')
    expect(pushed).toHaveLength(2)
    for (const { body } of pushed) expect(body).not.toHaveProperty('request_uri')
    expect(pushed[0]?.body['state']).not.toBe(pushed[1]?.body['state'])
  })

  test('contain the redirect URI unchanged, also with a query', async () => {
    const redirect = 'http://localhost:3000/auth/callback?from=a%20b&x'
    const { browser } = world.another({ authorizationParameters: { redirect_uri: redirect } })
    const url = await world.begin(browser)
    expect(world.provider.requests('par')[0]?.body['redirect_uri']).toBe(redirect)
    expect((await browser.send(await world.authorize(url))).status).toBe(302)
  })

  test('a query of the endpoint itself stays in the browser and is not pushed', async () => {
    const stop = world.provider.rewrite('discovery', (json) => ({
      ...json,
      authorization_endpoint: `${json['authorization_endpoint']}?tenant=a`,
    }))
    const own = world.another(withFetch())
    const sent = parametersOf(await world.begin(own.browser))
    stop()
    expect(sent).toMatchObject({ tenant: 'a', request_uri: expect.any(String) })
    expect(world.provider.requests('par')[0]?.body).not.toHaveProperty('tenant')
  })
})

/** Caches belong to the fetch function, so a client with its own one discovers anew. */
function withFetch(): IdpClientOptions {
  return { [customFetch]: (input, init) => fetch(input, init) }
}

const faults: Record<string, Fault> = {
  '400 with an error': {
    kind: 'respond',
    status: 400,
    body: '{"error":"invalid_request","error_description":"<b>s3cr3t</b>"}',
    headers: { 'content-type': 'application/json' },
  },
  '401 with a challenge': {
    kind: 'respond',
    status: 401,
    body: '{"error":"invalid_client"}',
    headers: { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="x"' },
  },
  '500 HTML': {
    kind: 'respond',
    status: 500,
    body: '<h1>s3cr3t</h1>',
    headers: { 'content-type': 'text/html' },
  },
  '503': { kind: 'respond', status: 503, headers: { 'retry-after': '1' } },
  '429': { kind: 'respond', status: 429, headers: { 'retry-after': '1' } },
  'no request_uri': respondWith(undefined),
  'a request_uri that is no text': respondWith({ a: 1 }),
  'an empty request_uri': respondWith(''),
  null: { kind: 'null' },
  array: { kind: 'array' },
  truncated: { kind: 'truncate' },
  empty: { kind: 'empty' },
  hangs: { kind: 'hang' },
  reset: { kind: 'reset' },
  'reset after it acted': { kind: 'reset', at: 'commit' },
  'drips the body': { kind: 'slowBody' },
  '64 MiB': { kind: 'huge' },
  'redirect elsewhere': { kind: 'redirect', location: 'http://127.0.0.1:9/' },
}

describe('a failed push ends the login, without a second attempt or a plain request', () => {
  test.each(Object.entries(faults))('%s', async (_name, fault) => {
    const patient = world.newBrowser()
    await world.login(patient)
    const { browser } = world.another({ httpTimeout: toTimeout(fault) })
    for (const [name, cookie] of patient.cookies) browser.cookies.set(name, cookie)
    const before = new Map(browser.cookies)
    world.provider.clearRequests()
    world.provider.faults.set('par', fault)
    const response = await browser.send('/auth/login?returnTo=/x')
    expect([502, 503, 504]).toContain(response.status)
    expect(response.headers.get('location')).toBeNull()
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(await response.text()).not.toMatch(/s3cr3t|<b>/)
    expect(world.provider.count('par')).toBe(1)
    expect(browser.cookies).toEqual(before)
    world.provider.faults.clear()
    expect((await world.login(world.newBrowser())).status).toBe(302)
  })

  test('in code it is a typed error with the error of the provider', async () => {
    world.provider.faults.set('par', faults['400 with an error'] as Fault)
    const error = await rejectionOf(world.client.startInteractiveLogin({}, world.browser.request('/')))
    expect(error).toMatchObject({
      name: 'CallbackError',
      code: 'AUTHORIZATION_REQUEST_ERROR',
      cause: { name: 'OAuthError', error: 'invalid_request', providerStatus: 400 },
    })
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'PROVIDER_FAILURE', endpoint: 'par', status: 400 }),
    )
  })

  test('200 instead of 201 is accepted', async () => {
    world.provider.faults.set('par', respondWith('urn:example:1', 200))
    expect(parametersOf(await world.begin(world.newBrowser()))['request_uri']).toBe('urn:example:1')
  })
})

test.each([
  'https://evil.example/?client_id=other&x=1#frag',
  'urn:x\r\nSet-Cookie: a=b',
  '&client_id=evil&request_uri=evil',
  `urn:${'x'.repeat(1_000_000)}`,
])('a hostile request_uri is only encoded (%#)', async (requestUri) => {
  const plain = await world.begin(world.another({ pushedAuthorizationRequests: false }).browser)
  world.provider.faults.set('par', respondWith(requestUri))
  const url = await world.begin(world.newBrowser())
  const { origin, pathname } = new URL(url)
  expect(origin).toBe(world.provider.origin)
  expect(pathname).toBe(new URL(plain).pathname)
  expect(url).not.toMatch(/[\r\n]/)
  expect([...new URL(url).searchParams]).toEqual([
    ['client_id', world.provider.clientId],
    ['request_uri', requestUri],
  ])
})

describe('option and metadata differ', () => {
  test('the option is set but not advertised: 500, and a typed error in code', async () => {
    const stop = world.provider.rewrite('discovery', (json) => {
      const { pushed_authorization_request_endpoint: _gone, ...rest } = json
      return rest
    })
    const { browser, client } = world.another(withFetch())
    const response = await browser.send('/auth/login')
    expect(response.status).toBe(500)
    expect(browser.cookies.size).toBe(0)
    const error = await rejectionOf(client.startInteractiveLogin({}, browser.request('/')))
    stop()
    expect(error).toMatchObject({
      name: 'InvalidConfigurationError',
      message: expect.stringMatching(/pushedAuthorizationRequests.*pushed_authorization_request_endpoint/),
    })
  })

  test('an endpoint that is not https is a failure of the provider', async () => {
    const stop = world.provider.rewrite('discovery', (json) => ({
      ...json,
      pushed_authorization_request_endpoint: 'ftp://idp.example/par',
    }))
    const { browser, client } = world.another(withFetch())
    const error = await rejectionOf(client.startInteractiveLogin({}, browser.request('/')))
    stop()
    expect(error).toMatchObject({ name: 'DiscoveryError', remedy: 'ENDPOINT_MISSING' })
  })

  test('the option is not set but required: a typed configuration error that names it', async () => {
    const stop = world.provider.rewrite('discovery', (json) => ({
      ...json,
      require_pushed_authorization_requests: true,
    }))
    const { browser, client } = world.another({ ...withFetch(), pushedAuthorizationRequests: false })
    expect((await browser.send('/auth/login')).status).toBe(500)
    const error = await rejectionOf(client.startInteractiveLogin({}, browser.request('/')))
    const on = world.another(withFetch())
    expect((await world.login(on.browser)).status).toBe(302)
    stop()
    expect(error).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringMatching(/pushedAuthorizationRequests is off/),
      remedy: 'PAR_REQUIRED',
    })
  })

  test('the provider requires it of the client', async () => {
    const strict = await startWorld({ pushedAuthorizationRequests: true }, { requirePar: true })
    expect((await strict.login(strict.browser)).status).toBe(302)
    await strict.provider.stop()
  })
})
