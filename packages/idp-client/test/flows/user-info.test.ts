import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import { createApplication } from '../../src/engine.ts'
import { sessionTokens } from '../../src/flows/get-access-token.ts'
import { getUserInfo } from '../../src/flows/get-user-info.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { Cookies, SECRET } from '../support/engine.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import type { Fault } from '../support/timeouts.ts'
import { toTimeout } from '../support/timeouts.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})

/** The flow for what a browser carries, on the engine of an equal client. */
function userInfoOf(browser: Browser, options: IdpClientOptions = {}, from: World = world) {
  const { engine } = createApplication({
    domain: from.provider.issuer,
    clientId: from.provider.clientId,
    clientSecret: from.provider.clientSecret,
    secret: SECRET,
    allowInsecureRequests: true,
    logger: () => {},
    ...options,
  })
  const cookies = new Cookies()
  for (const [name, { value }] of browser.cookies)
    cookies.stored.set(name, { value, attributes: {} as never })
  const exchange = cookies.exchange('http://localhost:3000/')
  return getUserInfo(engine(), exchange, sessionTokens(engine(), exchange))
}

describe('getUserInfo', () => {
  test('returns fresh claims about the user of the session; nothing is written', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const stop = world.provider.rewrite('userinfo', (json) => ({ ...json, nickname: 'renamed today' }))
    const claims = await userInfoOf(browser)
    stop()
    expect(claims).toMatchObject({ sub: 'dev|alice', nickname: 'renamed today', email: expect.any(String) })
    expect(world.provider.requests('userinfo')[0]).toMatchObject({
      method: 'GET',
      headers: { authorization: expect.stringMatching(/^Bearer /) },
    })
    expect((await world.client.getSession(browser.request('/')))?.user.nickname).not.toBe('renamed today')
  })

  test('returns the claims of the user that the ID token named, also if a hook has given sub another meaning', async () => {
    const { browser, client } = world.another({
      beforeSessionSaved: (session) => ({ ...session, user: { ...session.user, sub: 'employee 7' } }),
    })
    await world.login(browser)
    expect(await client.getUserInfo(browser.request('/'), new Headers())).toMatchObject({ sub: 'dev|alice' })
  })

  test('throws MISSING_SESSION without a session, without a request', async () => {
    expect(await rejectionOf(userInfoOf(world.newBrowser()))).toMatchObject({
      name: 'AccessTokenError',
      code: 'MISSING_SESSION',
    })
    expect(world.provider.count('userinfo')).toBe(0)
  })

  test('rejects claims about another user', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    for (const sub of ['dev|mallory', '', undefined, 7]) {
      const stop = world.provider.rewrite('userinfo', (json) => ({ ...json, sub }))
      expect(await rejectionOf(userInfoOf(browser))).toMatchObject({
        name: 'OAuthError',
        code: 'RESPONSE_INVALID',
      })
      stop()
    }
  })

  test.each([
    [
      'a refusal',
      { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
      { providerStatus: 401 },
    ],
    ['HTML', { body: '<h1>x</h1>', headers: { 'content-type': 'text/html' } }, {}],
    ['an overloaded provider', { status: 503 }, { transient: true }],
  ])('%s is a typed error', async (_what, response, expected) => {
    const browser = world.newBrowser()
    await world.login(browser)
    world.provider.faults.set('userinfo', { kind: 'respond', ...response })
    const error = await rejectionOf(userInfoOf(browser))
    expect(error).toMatchObject({ name: 'OAuthError', ...expected })
    expect(world.provider.count('userinfo')).toBe(1)
  })

  test('a signed response, for a client that is registered for it, is a typed error', async () => {
    const signing = await startWorld({}, { userinfoSigningAlg: 'ES256' })
    await signing.login(signing.browser)
    const error = await rejectionOf(userInfoOf(signing.browser, {}, signing))
    await signing.provider.stop()
    expect(error).toMatchObject({ name: 'OAuthError', message: expect.stringMatching(/signed/) })
  })

  test('a bound token has a proof with its hash; nonces of UserInfo are separate', async () => {
    const dpopKeyPair = await generateDpopKeyPair()
    const options = { useDPoP: true, dpopKeyPair, dpopOptions: { retry: { delay: 1 } } }
    const bound = await startWorld(options, { requireDpop: true, dpopNonces: true })
    await bound.login(bound.browser)
    const claims = await userInfoOf(bound.browser, options, bound)
    const asked = bound.provider.requests('userinfo')
    await bound.provider.stop()
    expect(claims.sub).toBe('dev|alice')
    expect(asked.map(({ status }) => status)).toEqual([401, 200])
    for (const { headers } of asked) {
      expect(headers['authorization']).toMatch(/^DPoP /)
      const [, payload = ''] = String(headers['dpop']).split('.')
      expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
        htm: 'GET',
        ath: expect.stringMatching(/^[\w-]{43}$/),
      })
    }
  })
})

describe('fetchUserInfo', () => {
  test('claims that only UserInfo returned stay when a refresh returns no ID token, also with beforeSessionSaved', async () => {
    const { browser, client } = world.another({
      fetchUserInfo: true,
      beforeSessionSaved: (session) => ({
        ...session,
        user: { ...session.user, department: session.user['department'] },
      }),
    })
    const stop = world.provider.rewrite('userinfo', (json) => ({ ...json, department: 'sales' }))
    await world.login(browser)
    stop()
    const withoutIdToken = world.provider.rewrite('token', ({ id_token: _none, ...json }) => json)
    const request = browser.request('/')
    await client.getAccessToken(request, new Headers(), { refresh: true })
    withoutIdToken()
    expect((await client.getSession(request))?.user).toMatchObject({ department: 'sales' })
  })

  test.each([
    ['no ID token', ({ id_token: _none, ...json }: Record<string, unknown>) => json],
    ['a new ID token', (json: Record<string, unknown>) => json],
  ])(
    'what beforeSessionSaved has added does not stay if it no longer adds it: a refresh with %s',
    async (_title, change) => {
      let isAdmin = true
      const { browser, client } = world.another({
        fetchUserInfo: true,
        beforeSessionSaved: (session) =>
          isAdmin ? { ...session, user: { ...session.user, admin: true } } : session,
      })
      const stop = world.provider.rewrite('userinfo', (json) => ({ ...json, department: 'sales' }))
      await world.login(browser)
      stop()
      const request = browser.request('/')
      expect((await client.getSession(request))?.user).toMatchObject({ admin: true, department: 'sales' })
      isAdmin = false
      const undo = world.provider.rewrite('token', change)
      const headers = new Headers()
      await client.getAccessToken(request, headers, { refresh: true })
      undo()
      const after = (await client.getSession(request))?.user
      expect(after).toMatchObject({ department: 'sales' })
      expect(after).not.toHaveProperty('admin')
    },
  )

  test('only claims that only UserInfo returned stay when a refresh returns a new ID token', async () => {
    const { browser, client } = world.another({ fetchUserInfo: true })
    const stop = world.provider.rewrite('userinfo', (json) => ({ ...json, department: 'sales' }))
    await world.login(browser)
    stop()
    const rename = world.provider.tamperIdToken((claims) => {
      claims['name'] = 'Renamed'
      delete claims['email']
    })
    const headers = new Headers()
    const request = browser.request('/')
    expect((await client.getSession(request))?.user).toHaveProperty('email')
    await client.getAccessToken(request, headers, { refresh: true })
    rename()
    const after = (await client.getSession(request))?.user
    expect(after).toMatchObject({ department: 'sales', name: 'Renamed' })
    expect(after).not.toHaveProperty('email')
  })

  test('is off by default: no request', async () => {
    await world.login(world.newBrowser())
    expect(world.provider.count('userinfo')).toBe(0)
  })

  test('adds its claims to user, where those of the ID token take precedence and protocol claims are omitted', async () => {
    const { browser, client } = world.another({ fetchUserInfo: true })
    const stop = world.provider.rewrite('userinfo', (json) => ({
      ...json,
      name: 'Other Name',
      department: 'research',
      sid: 'forged',
      iss: 'https://evil.example',
    }))
    expect((await world.login(browser)).status).toBe(302)
    stop()
    const session = await client.getSession(browser.request('/'))
    expect(session?.user).toMatchObject({ sub: 'dev|alice', department: 'research' })
    expect(session?.user.name).not.toBe('Other Name')
    expect(session?.user).not.toHaveProperty('iss')
    expect(session?.internal.sid).not.toBe('forged')
  })

  test.each([
    ['about another user', (json: Record<string, unknown>) => ({ ...json, sub: 'dev|mallory' }), 502],
    ['without sub', ({ sub: _sub, ...json }: Record<string, unknown>) => json, 502],
  ])('claims %s: no session', async (_what, change, status) => {
    const errors: unknown[] = []
    const { browser } = world.another({
      fetchUserInfo: true,
      onCallback: ({ error }) => void errors.push(error),
    })
    const stop = world.provider.rewrite('userinfo', change)
    expect((await world.login(browser)).status).toBe(status)
    stop()
    expect(browser.cookies.size).toBe(0)
    expect(errors).toMatchObject([
      { name: 'CallbackError', code: 'USERINFO_ERROR', cause: { name: 'OAuthError' } },
    ])
  })

  test.each([
    ['respond', 502],
    ['reset', 502],
    ['hang', 504],
    ['truncate', 502],
  ] as const)('the endpoint responds with %s: %s, no session, one request', async (kind, status) => {
    const fault: Fault = kind === 'respond' ? { kind, status: 500 } : { kind }
    const { browser } = world.another({ fetchUserInfo: true, httpTimeout: toTimeout(fault) })
    world.provider.faults.set('userinfo', fault)
    expect((await world.login(browser)).status).toBe(status)
    expect(browser.cookies.size).toBe(0)
    expect(world.provider.count('userinfo')).toBe(1)
  })
})

test('a login whose token is bound to a key that the client does not have is a configuration error', async () => {
  const { browser, events } = { ...world.another({ fetchUserInfo: true }), events: world.events }
  const undo = world.provider.rewrite('token', (json) => ({ ...json, token_type: 'DPoP' }))
  const response = await world.login(browser)
  undo()
  expect(response.status).toBe(500)
  expect(events).toContainEqual(
    expect.objectContaining({ code: 'LOGIN_FAILED', error: 'INVALID_CONFIGURATION' }),
  )
})
