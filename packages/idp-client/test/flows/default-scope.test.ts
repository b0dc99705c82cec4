import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { openLogin } from '../support/guard-login.ts'
import { Process } from '../support/processes.ts'

const API = 'https://api.example.test/'
const TTL = 600
const REDUCED = 'openid profile email'

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL, offlineAccess: 'refused' })
})
afterEach(() => world.provider.stop())

const scopeOf = (url: string): string | null => new URL(url).searchParams.get('scope')
const sentScopes = (endpoint: 'token' | 'backchannelAuthentication' | 'par') =>
  world.provider.requests(endpoint).map(({ body }) => body['scope'])
const notices = (events: readonly LogEvent[]) => events.filter(({ code }) => code === 'NOTICE')

/** A signed-in user; the login is not in the request log. */
async function signedIn(options: IdpClientOptions = {}) {
  const made = world.another(options)
  expect((await world.login(made.browser)).headers.get('location')).toMatch(/^http:\/\/localhost:3000\//)
  world.provider.clearRequests()
  return made
}

describe('[B3] a provider that lists its scopes without offline_access', () => {
  test('the default scope of a login is sent without it, and the session stores that', async () => {
    const { browser, client } = world.another()
    expect(scopeOf(await world.begin(browser))).toBe(REDUCED)
    await world.login(browser)
    const session = await client.getSession(browser.request('/'))
    expect(session?.tokenSet).toMatchObject({ scope: REDUCED, requestedScope: REDUCED })
  })

  test('one notice names the option', async () => {
    // Another test may have made this process report it.
    await new Process().run(async () => {
      await world.login(world.newBrowser())
      await world.login(world.newBrowser())
    })
    expect(notices(world.events)).toEqual([
      {
        level: 'warn',
        code: 'NOTICE',
        message: expect.stringMatching(/offline_access.*authorizationParameters\.scope/),
      },
    ])
  })

  test('a pushed request is sent without it too', async () => {
    const { browser } = world.another({ pushedAuthorizationRequests: true })
    await world.begin(browser)
    expect(sentScopes('par')).toEqual([REDUCED])
  })

  test('a configured scope is sent unchanged; null is the default', async () => {
    const scope = 'openid offline_access'
    const { browser } = world.another({ authorizationParameters: { scope } })
    expect(scopeOf(await world.begin(browser))).toBe(scope)
    expect((await world.login(browser)).status).toBe(400)
    expect(notices(world.events)).toEqual([])
    const unset = world.another({ authorizationParameters: { scope: null } })
    expect(scopeOf(await world.begin(unset.browser))).toBe(REDUCED)
  })

  test('an audience that the map of scopes does not contain has the default', async () => {
    const scope = { 'https://orders.example.test/': 'openid read:orders' }
    const { browser } = world.another({ authorizationParameters: { audience: API, scope } })
    expect(scopeOf(await world.begin(browser))).toBe(REDUCED)
  })

  test('openid is added for a further audience whose configured scope lacks it', async () => {
    const audience = 'https://orders.example.test/'
    const scope = { [API]: 'openid', [audience]: 'read:orders' }
    const { browser, client } = world.another({ authorizationParameters: { audience: API, scope } })
    const started = await client.startInteractiveLogin(
      { authorizationParameters: { audience } },
      browser.request('/'),
    )
    const callback = await world.authorize(browser.store(started).headers.get('location') ?? '')
    expect((await browser.send(callback)).status).toBe(302)
    expect((await client.getSession(browser.request('/')))?.tokenSet).toMatchObject({
      requestedScope: 'read:orders openid',
    })
  })

  test('parameters of the application are never changed', async () => {
    const { browser, client } = world.another()
    const scope = 'openid offline_access'
    const started = await client.startInteractiveLogin(
      { authorizationParameters: { scope } },
      browser.request('/'),
    )
    expect(scopeOf(started.headers.get('location') ?? '')).toBe(scope)
  })

  test.each(['read:orders', '', { 'https://orders.example.test/': 'read:orders' }])(
    'the scope %j of a call is rejected, because the provider would return no ID token',
    async (scope) => {
      const { client, browser } = world.another()
      const audience = 'https://orders.example.test/'
      const start = client.startInteractiveLogin(
        { authorizationParameters: { audience, scope } },
        browser.request('/'),
      )
      await expect(start).rejects.toMatchObject({
        code: 'INVALID_CONFIGURATION',
        detail: expect.stringContaining("authorizationParameters.scope must contain 'openid'"),
      })
    },
  )

  test('a session with a valid token needs no provider, for any part of the default scope', async () => {
    const { browser, client } = await signedIn()
    await world.provider.stop()
    const { token } = await client.getAccessToken(browser.request('/'), new Headers())
    for (const scope of ['email', 'openid profile', REDUCED]) {
      const again = await client.getAccessToken(browser.request('/'), new Headers(), { scope })
      expect(again.token).toBe(token)
    }
    // Another process, which has never read the metadata.
    const there = await new Process().run(() =>
      world.another().client.getAccessToken(browser.request('/'), new Headers(), { scope: 'email' }),
    )
    expect(there.token).toBe(token)
  })

  test('a refresh with a scope adds it to the default without offline_access', async () => {
    const { browser, client } = await signedIn()
    const options = { audience: API, scope: 'read:things' }
    const headers = new Headers()
    const { scope } = await client.getAccessToken(browser.request('/'), headers, options)
    browser.store(new Response(null, { headers }))
    expect(scope).toContain('read:things')
    expect(sentScopes('token')).toEqual([`${REDUCED} read:things`])
    await client.getAccessToken(browser.request('/'), new Headers(), options)
    expect(sentScopes('token')).toHaveLength(1)
  })

  test('the scope of a caller is sent, and the provider rejects it', async () => {
    const { browser, client } = await signedIn()
    const options = { audience: API, scope: 'offline_access' }
    await expect(client.getAccessToken(browser.request('/'), new Headers(), options)).rejects.toMatchObject({
      code: 'FAILED_TO_REFRESH_TOKEN',
      cause: { error: 'invalid_scope' },
    })
  })

  test('a plain refresh keeps the requested scope', async () => {
    const { browser, client } = await signedIn()
    world.clock.now += TTL + 1
    const headers = new Headers()
    await client.getAccessToken(browser.request('/'), headers)
    browser.store(new Response(null, { headers }))
    expect(sentScopes('token')).toEqual([undefined])
    const session = await client.getSession(browser.request('/'))
    expect(session?.tokenSet.requestedScope).toBe(REDUCED)
  })

  test('a guard adds its scope to the default without offline_access', async () => {
    const { browser, client } = await signedIn({ authorizationParameters: { audience: API } })
    const page = client.withPageAuthRequired(() => new Response('in'), { scope: 'read:things' })
    const refused = await page(browser.request('/vault'))
    const { search, searchParams } = new URL(refused.headers.get('location') ?? '', 'http://localhost:3000')
    expect(await openLogin(Object.fromEntries(searchParams))).toMatchObject({ scope: 'read:things' })
    const url = await world.begin(browser, search)
    expect(scopeOf(url)).toBe(`${REDUCED} read:things`)
    await browser.send(await world.authorize(url))
    expect(await (await page(browser.request('/vault'))).text()).toBe('in')
  })

  test('a guard whose scope is never granted stops after one login', async () => {
    const { browser, client } = await signedIn()
    const page = client.withPageAuthRequired(() => new Response('in'), { scope: 'unheard:of' })
    const refused = await page(browser.request('/vault'))
    const { search } = new URL(refused.headers.get('location') ?? '', 'http://localhost:3000')
    await world.login(browser, search)
    await expect(page(browser.request('/vault'))).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
  })

  test('a popup requests the default without it', async () => {
    const { browser } = await signedIn()
    expect(scopeOf(await world.begin(browser, '?challengeMode=popup&scope=x'))).toBe(`${REDUCED} x`)
  })

  test('backchannel authentication and token exchange request the default without it', async () => {
    world.provider.settings.cibaAutoApprove = true
    const { tokenSet } = await world.client.getTokenByBackchannelAuth({
      bindingMessage: 'Order 42',
      loginHint: { sub: 'dev|alice' },
    })
    expect(sentScopes('backchannelAuthentication')).toEqual([REDUCED])
    expect(tokenSet.requestedScope).toBe(REDUCED)
    world.provider.clearRequests()
    const subject = { subjectToken: 'alice', subjectTokenType: 'urn:example:user-name' }
    await world.client.customTokenExchange(subject)
    // A configured scope has no effect there, so the default applies.
    const configured = world.another({ authorizationParameters: { scope: 'openid email' } })
    await configured.client.customTokenExchange(subject)
    expect(sentScopes('token')).toEqual([REDUCED, REDUCED])
    await expect(
      world.client.customTokenExchange({ ...subject, scope: 'openid offline_access' }),
    ).rejects.toMatchObject({ code: 'EXCHANGE_FAILED' })
  })

  test('a scope that is configured there is sent unchanged', async () => {
    const { client } = world.another({ authorizationParameters: { scope: 'openid offline_access' } })
    await expect(
      client.getTokenByBackchannelAuth({ bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } }),
    ).rejects.toMatchObject({ code: 'BACKCHANNEL_AUTHENTICATION_ERROR' })
    expect(sentScopes('backchannelAuthentication')).toEqual(['openid offline_access'])
  })
})

describe('[B3] [S096] every other provider', () => {
  const whole = `${REDUCED} offline_access`

  test.each([
    ['lists it', { scopes_supported: ['openid', 'offline_access'] }],
    ['lists nothing', {}],
    ['lists something else than an array', { scopes_supported: 'openid' }],
  ])('a provider that %s gets the whole default scope', async (_what, members) => {
    world.provider.settings.offlineAccess = 'listed'
    world.provider.rewrite('discovery', ({ scopes_supported: _listed, ...json }) => ({ ...json, ...members }))
    const { browser, client } = world.another()
    expect(scopeOf(await world.begin(browser))).toBe(whole)
    await world.login(browser)
    world.provider.clearRequests()
    await client.getAccessToken(browser.request('/'), new Headers(), { audience: API, scope: 'read:things' })
    expect(sentScopes('token')).toEqual([`${whole} read:things`])
  })
})
