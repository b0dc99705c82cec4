import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SessionData } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { currentTime, startWorld } from '../support/app.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.clock.now = currentTime()
})

async function signedIn() {
  const browser = world.newBrowser()
  await world.login(browser)
  world.provider.clearRequests()
  return browser
}

const google = { connection: 'google-oauth2' }

describe('getAccessTokenForConnection', () => {
  test('[S173,S174,S175,S176] a token is exchanged once and kept in its own cookie until it expires', async () => {
    const browser = await signedIn()
    const ask = async () => {
      const headers = new Headers()
      const token = await world.client.getAccessTokenForConnection(browser.request('/'), headers, google)
      browser.store(new Response(null, { headers }))
      return token
    }
    const first = await ask()
    expect(first).toMatchObject({ token: expect.any(String), expiresAt: expect.any(Number) })
    expect(browser.names('__session__conn_')).toEqual(['__session__conn_0'])
    expect(await ask()).toEqual(first)
    const [request, ...more] = world.provider.requests('token')
    expect(more).toEqual([])
    expect(request?.body).toMatchObject({
      connection: 'google-oauth2',
      grant_type: expect.stringContaining('federated-connection-access-token'),
      subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
    })
    const session = await world.client.getSession(browser.request('/'))
    expect(session?.connectionTokenSets).toEqual([
      expect.objectContaining({ connection: 'google-oauth2', accessToken: first.token }),
    ])
    world.clock.now = first.expiresAt
    expect((await ask()).token).not.toBe(first.token)
  })

  test('an access token of the session that has expired is refreshed before it is exchanged', async () => {
    const browser = await signedIn()
    const ask = async () => {
      const headers = new Headers()
      const subject_token_type = 'urn:ietf:params:oauth:token-type:access_token'
      await world.client.getAccessTokenForConnection(browser.request('/'), headers, {
        ...google,
        subject_token_type,
      })
      browser.store(new Response(null, { headers }))
    }
    const sent = () => world.provider.requests('token').map(({ body }) => body['subject_token'])
    const { tokenSet: first } = await browser.session()
    await ask()
    expect(sent()).toEqual([first.accessToken])
    world.clock.now += 3601
    await ask()
    const { tokenSet: second } = await browser.session()
    expect(second.accessToken).not.toBe(first.accessToken)
    expect(sent()).toEqual([first.accessToken, undefined, second.accessToken])
  })

  test('an access token that cannot be refreshed is an error of the connection', async () => {
    const browser = await signedIn()
    const subject_token_type = 'urn:ietf:params:oauth:token-type:access_token'
    const ask = (request: Request) =>
      world.client.getAccessTokenForConnection(request, new Headers(), { ...google, subject_token_type })
    const name = 'AccessTokenForConnectionError'
    world.clock.now += 3601
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    await expect(ask(browser.request('/'))).rejects.toMatchObject({
      name,
      code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN',
      cause: { code: 'FAILED_TO_REFRESH_TOKEN' },
    })
    world.provider.faults.clear()
    const request = browser.request('/')
    const session = await world.client.getSession(request)
    const { refreshToken: _none, ...tokenSet } = session?.tokenSet ?? { accessToken: '', expiresAt: 0 }
    await world.client.updateSession(request, new Headers(), { ...session, tokenSet } as SessionData)
    await expect(ask(request)).rejects.toMatchObject({ name, code: 'MISSING_REFRESH_TOKEN' })
  })

  test('two connections and two accounts of one are kept apart', async () => {
    const browser = await signedIn()
    const request = browser.request('/')
    const ask = (options: { connection: string; login_hint?: string }) =>
      world.client.getAccessTokenForConnection(request, new Headers(), options)
    const tokens = [
      await ask(google),
      await ask({ ...google, login_hint: 'a' }),
      await ask({ connection: 'github' }),
    ]
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(3)
    expect(await ask(google)).toEqual(tokens[0])
    expect(await ask({ ...google, login_hint: 'a' })).toEqual(tokens[1])
  })

  test('20 requests at once cause one exchange, and each gets its token', async () => {
    const browser = await signedIn()
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        world.client.getAccessTokenForConnection(browser.request('/'), new Headers(), google),
      ),
    )
    expect(new Set(responses.map(({ token }) => token)).size).toBe(1)
    expect(world.provider.count('token')).toBe(1)
  })

  test('[S177] throws typed errors without a session, connection or refresh token, and if the provider rejects', async () => {
    const { client } = world
    const browser = await signedIn()
    const ask = (request: Request, options: unknown) =>
      client.getAccessTokenForConnection(request, new Headers(), options as typeof google)
    const name = 'AccessTokenForConnectionError'
    await expect(ask(world.newBrowser().request('/'), google)).rejects.toMatchObject({
      name,
      code: 'MISSING_SESSION',
    })
    for (const options of [undefined, {}, { connection: '' }, { connection: 7 }]) {
      await expect(ask(browser.request('/'), options)).rejects.toMatchObject({
        name,
        code: 'MISSING_CONNECTION',
      })
    }
    await expect(ask(browser.request('/'), { connection: 'unknown' })).rejects.toMatchObject({
      name,
      code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN',
      cause: { name: 'OAuthError' },
    })
    const request = browser.request('/')
    const session = await client.getSession(request)
    const { refreshToken: _none, ...tokenSet } = session?.tokenSet ?? { accessToken: '', expiresAt: 0 }
    await client.updateSession(request, new Headers(), { ...session, tokenSet } as SessionData)
    await expect(ask(request, google)).rejects.toMatchObject({ name, code: 'MISSING_REFRESH_TOKEN' })
  })

  test('a provider that fails keeps the session, its tokens and the connection', async () => {
    const browser = await signedIn()
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    await expect(
      world.client.getAccessTokenForConnection(browser.request('/'), new Headers(), google),
    ).rejects.toMatchObject({ code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN' })
    world.provider.faults.clear()
    const again = await world.client.getAccessTokenForConnection(browser.request('/'), new Headers(), google)
    expect(again.token).toEqual(expect.any(String))
  })

  test('connection cookies are valid with their own session only, and a logout deletes them', async () => {
    const [alice, bob] = [await signedIn(), await signedIn()]
    const headers = new Headers()
    await world.client.getAccessTokenForConnection(alice.request('/'), headers, google)
    alice.store(new Response(null, { headers }))
    const stolen = alice.cookies.get('__session__conn_0')
    if (stolen) bob.cookies.set('__session__conn_0', stolen)
    expect((await world.client.getSession(bob.request('/')))?.connectionTokenSets).toBeUndefined()
    await alice.send('/auth/logout')
    expect([...alice.cookies.keys()]).toEqual(['__session__ended'])
  })
})

describe('revokeRefreshToken', () => {
  test('the provider revokes the token, and the session continues without it', async () => {
    const browser = await signedIn()
    const headers = new Headers()
    expect(await world.client.revokeRefreshToken(browser.request('/'), headers)).toBe(true)
    browser.store(new Response(null, { headers }))
    expect(world.provider.requests('revocation')[0]?.body).toMatchObject({ token_type_hint: 'refresh_token' })
    const session = await world.client.getSession(browser.request('/'))
    expect(session?.tokenSet.refreshToken).toBeUndefined()
    expect(session?.user.sub).toBe('dev|alice')
    await expect(world.client.revokeRefreshToken(browser.request('/'), new Headers())).rejects.toMatchObject({
      code: 'MISSING_REFRESH_TOKEN',
    })
  })

  test('without a session it throws MISSING_SESSION', async () => {
    await expect(
      world.client.revokeRefreshToken(world.newBrowser().request('/'), new Headers()),
    ).rejects.toMatchObject({ name: 'AccessTokenError', code: 'MISSING_SESSION' })
  })

  test('without a response for the cookie nothing is revoked', async () => {
    const browser = await signedIn()
    await expect(world.client.revokeRefreshToken(browser.request('/'))).rejects.toMatchObject({
      code: 'SESSION_NOT_WRITABLE',
    })
    expect(world.provider.requests('revocation')).toEqual([])
  })

  test('a provider that fails: typed error, the token stays', async () => {
    const browser = await signedIn()
    world.provider.faults.set('revocation', { kind: 'respond', status: 503 })
    const request = browser.request('/')
    await expect(world.client.revokeRefreshToken(request, new Headers())).rejects.toMatchObject({
      code: 'FAILED_TO_REVOKE',
    })
    expect((await world.client.getSession(request))?.tokenSet.refreshToken).toEqual(expect.any(String))
  })
})

describe('operations without a session', () => {
  test('[S178,S179,S180,S181,S218] customTokenExchange on the client', async () => {
    const result = await world.client.customTokenExchange({
      subjectToken: 'alice',
      subjectTokenType: 'urn:example:legacy-token',
      audience: 'https://api.example.test/',
      scope: 'openid read:things',
    })
    expect(result.accessToken).toEqual(expect.any(String))
    const [request] = world.provider.requests('token')
    expect(request?.body).toMatchObject({
      audience: 'https://api.example.test/',
      scope: 'openid read:things',
    })
  })

  test('[S191,S192,S193,S194,S219] getTokenByBackchannelAuth on the client', async () => {
    world.provider.settings.cibaAutoApprove = true
    const { idTokenClaims, tokenSet } = await world.client.getTokenByBackchannelAuth({
      bindingMessage: 'Transfer 10',
      loginHint: { sub: 'dev|alice' },
    })
    expect(idTokenClaims.sub).toBe('dev|alice')
    expect(tokenSet.accessToken).toEqual(expect.any(String))
  })

  test('getUserInfo returns current claims of the user of the session', async () => {
    const browser = await signedIn()
    const claims = await world.client.getUserInfo(browser.request('/'), new Headers())
    expect(claims).toMatchObject({ sub: 'dev|alice', email: expect.any(String) })
    world.provider.rewrite('userinfo', (json) => ({ ...json, sub: 'dev|mallory' }), { times: 1 })
    await expect(world.client.getUserInfo(browser.request('/'), new Headers())).rejects.toMatchObject({
      name: 'OAuthError',
    })
  })
})
