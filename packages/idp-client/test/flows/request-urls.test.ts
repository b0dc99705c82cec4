import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { isContinue } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.provider.stop())

describe('[I3] no URL contains a secret, verifier, assertion or token', () => {
  const withKey = (): IdpClientOptions => {
    const { clientId, privateKey } = world.provider.keyClient
    return { clientId, clientSecret: '', clientAssertionSigningKey: privateKey }
  }

  test.each([
    ['a client secret', () => ({})],
    ['a client secret in the body', () => ({ tokenEndpointAuthMethod: 'client_secret_post' as const })],
    ['a client assertion', withKey],
    ['a pushed request', () => ({ pushedAuthorizationRequests: true })],
  ])('%s', async (_what, optionsOf) => {
    const { browser, client } = world.another({ ...optionsOf(), includeIdTokenHintInOIDCLogoutUrl: false })
    const urls: (string | null)[] = []
    const visit = async (path: string): Promise<Response> => {
      const response = await browser.send(path)
      urls.push(response.headers.get('location'))
      return response
    }
    const begun = await visit('/auth/login?returnTo=/a')
    const callback = await world.authorize(begun.headers.get('location') ?? '')
    await visit(callback)
    const session = await client.getSession(browser.request('/'))
    const headers = new Headers()
    const refreshed = await client.getAccessToken(browser.request('/'), headers, { refresh: true })
    browser.store(new Response(null, { headers }))
    const latest = await client.getSession(browser.request('/'))
    await visit('/auth/logout')
    const requests = world.provider.requests()
    const bodies = requests.map(({ body }) => body)
    const secrets = [
      world.provider.clientSecret,
      ...bodies.flatMap((body) => [body['code_verifier'], body['client_assertion']]),
      ...[session, latest].flatMap((found) => [
        found?.tokenSet.accessToken,
        found?.tokenSet.refreshToken,
        found?.tokenSet.idToken,
      ]),
      refreshed.token,
    ].filter((secret) => secret !== undefined)
    expect(secrets.length).toBeGreaterThan(7)
    const all = [...urls, ...requests.map(({ url }) => url)].map((url) => decodeURIComponent(url ?? ''))
    expect(all.length).toBeGreaterThan(6)
    for (const secret of secrets) {
      expect(secret).not.toBe('')
      expect(all.filter((url) => url.includes(secret))).toEqual([])
    }
    // The code is the one credential that has to travel in a URL, once: to the callback.
    expect(all.filter((url) => /[?&]code=/.test(url))).toEqual([])
    expect(new URL(callback).searchParams.has('code')).toBe(true)
  })
})

describe('[I3] endpoints are those of the metadata', () => {
  const moved = {
    authorization_endpoint: true,
    token_endpoint: true,
    pushed_authorization_request_endpoint: true,
  }

  test('on any host, for any query of the login', async () => {
    world.provider.rewrite('discovery', (json) => ({
      ...json,
      ...Object.fromEntries(Object.keys(moved).map((name) => [name, `${String(json[name])}?at=${name}`])),
    }))
    const { browser } = world.another({ pushedAuthorizationRequests: true })
    const hostile = Object.keys(moved).map((name) => `${name}=https://evil.example/`)
    const url = await world.begin(browser, `?${hostile.join('&')}`)
    expect(url.startsWith(`${world.provider.issuer}/`)).toBe(true)
    expect(new URL(url).searchParams.get('at')).toBe('authorization_endpoint')
    expect((await browser.send(await world.authorize(url))).status).toBe(302)
    const at = (endpoint: 'par' | 'token') =>
      world.provider.requests(endpoint).map(({ query }) => query['at'])
    expect([at('par'), at('token')]).toEqual([['pushed_authorization_request_endpoint'], ['token_endpoint']])
  })

  test.each([
    ['authorization_endpoint', {}],
    ['pushed_authorization_request_endpoint', { pushedAuthorizationRequests: true }],
  ])('%s that is missing is not guessed', async (name, options) => {
    world.provider.rewrite('discovery', ({ [name]: _missing, ...json }) => json)
    const { browser } = world.another(options)
    const response = await browser.send('/auth/login')
    expect([response.status >= 500, response.headers.has('location')]).toEqual([true, false])
    expect(world.provider.requests().map(({ endpoint }) => endpoint)).toEqual(['discovery'])
  })
})

describe('[I3] the return from a logout', () => {
  test.each(['', '?state=mine', '?state=other', '?state=', '?state=a&state=b'])(
    'with %j is an ordinary page: no login, no error, no session',
    async (query) => {
      const { browser, client } = world.another()
      await world.login(browser)
      const out = await browser.send('/auth/logout?state=mine')
      const location = new URL(out.headers.get('location') ?? '')
      expect([out.status, location.searchParams.get('state')]).toEqual([302, 'mine'])
      expect(location.searchParams.get('post_logout_redirect_uri')).toBe(APP)
      world.provider.clearRequests()
      const marker = [...browser.cookies.keys()]
      const back = await browser.send(`/${query}`)
      expect([back.status, isContinue(back), back.headers.getSetCookie()]).toEqual([200, true, []])
      expect(await client.getSession(browser.request('/'))).toBeNull()
      expect([...browser.cookies.keys()]).toEqual(marker)
      expect(world.provider.requests()).toEqual([])
      // A new login works.
      expect((await world.login(browser)).status).toBe(302)
      expect(await client.getSession(browser.request('/'))).not.toBeNull()
    },
  )
})
