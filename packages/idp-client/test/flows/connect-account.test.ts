import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SessionData } from '../../src/index.ts'
import { ConnectAccountError, isContinue, isIdpError } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import { APP, currentTime } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { codeOf, json, startConnectWorld } from '../support/connect.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { skipTime } from '../support/timers.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  for (const { name } of world.provider.users()) world.provider.accounts.remove(name)
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.told.length = 0
  world.clock.now = currentTime()
})

const sessionOf = (browser: Browser) => world.client.getSession(browser.request('/'))
const accountsOf = (user: string) => world.provider.accounts.list(user)
const connects = () => world.provider.requests('account-connect')

describe('the route', () => {
  test('[S067] is not mounted by default: the request passes', async () => {
    for (const enableConnectAccountEndpoint of [undefined, false]) {
      const { client, browser } = world.another({ enableConnectAccountEndpoint })
      const response = await client.middleware(browser.request('/auth/connect?connection=github'))
      expect(isContinue(response)).toBe(true)
    }
  })

  test('[S146,S196] redirects to the provider and back if it is enabled, and the account is connected', async () => {
    const browser = await world.signedIn()
    const url = new URL(await world.beginConnect(browser, '?connection=github&returnTo=/accounts%3Fa%3D1'))
    expect(url.origin).toBe(new URL(world.provider.issuer).origin)
    expect([...url.searchParams.keys()]).toEqual(['ticket'])
    expect(browser.names('__txn_')).toHaveLength(1)
    const response = await browser.send(await world.decide(url.href, { account: 'alice@github' }))
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(`${APP}/accounts?a=1`)
    expect(browser.names('__txn_')).toEqual([])
    expect(accountsOf('alice')).toMatchObject([{ connection: 'github', name: 'alice@github' }])
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'CONNECT_STARTED' }))
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'CONNECT_COMPLETED' }))
  })

  test('[S005] is served by the same middleware as every other auth route', async () => {
    const { client, browser } = world.another()
    const paths = ['login', 'callback', 'logout', 'profile', 'access-token', 'connect']
    for (const path of paths) {
      expect(isContinue(await client.middleware(browser.request(`/auth/${path}`))), path).toBe(false)
    }
    const notice = browser.request('/auth/backchannel-logout', { method: 'POST' })
    expect(isContinue(await client.middleware(notice))).toBe(false)
    expect(isContinue(await client.middleware(browser.request('/auth/other')))).toBe(true)
  })

  test('[S146] has the path of the options', async () => {
    const { browser } = world.another({ routes: { connectAccount: '/accounts/new' } })
    await world.login(browser)
    expect((await browser.send('/accounts/new?connection=github')).status).toBe(302)
  })

  test('sends PKCE, an encrypted state, the callback, scopes and parameters to the API; nothing reserved', async () => {
    const browser = await world.signedIn()
    const query = [
      'connection=github&scopes=repo&scopes=read%3Auser&scopes=&returnTo=/x&login_hint=me&prompt=consent&empty=',
      'client_id=evil&redirect_uri=https%3A%2F%2Fevil.example&state=s&code_challenge=c&response_mode=fragment',
    ].join('&')
    await world.beginConnect(browser, `?${query}`)
    const [request] = connects()
    expect(request?.headers['authorization']).toMatch(/^Bearer /)
    expect(request?.headers['idp-client']).toBeDefined()
    expect(request?.json).toEqual({
      connection: 'github',
      redirect_uri: `${APP}/auth/callback`,
      state: expect.stringMatching(/^[\w-]{43}\./),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      scopes: ['repo', 'read:user'],
      authorization_params: { login_hint: 'me', prompt: 'consent', empty: '' },
    })
    const [refresh] = world.provider.requests('token').slice(-1)
    expect(refresh?.body).toMatchObject({
      grant_type: 'refresh_token',
      audience: `${world.provider.issuer.replace(/\/$/, '')}/me/`,
      scope: 'create:me:connected_accounts read:me:connected_accounts delete:me:connected_accounts',
    })
  })

  test('[E2] reads scopes in brackets as scopes', async () => {
    const browser = await world.signedIn()
    await world.beginConnect(
      browser,
      '?connection=github&scopes[]=repo&scopes%5B%5D=read%3Auser&scopes=gist&scopes[]=',
    )
    const [request] = connects()
    expect(request?.json).toMatchObject({ scopes: ['gist', 'repo', 'read:user'] })
    expect(request?.json).not.toHaveProperty('authorization_params')
  })

  test('sends a single scope and a single parameter', async () => {
    const browser = await world.signedIn()
    await world.beginConnect(browser, '?connection=github&scopes=repo&prompt=consent')
    expect(connects()[0]?.json).toMatchObject({
      scopes: ['repo'],
      authorization_params: { prompt: 'consent' },
    })
  })

  test('the verifier of the completion is that of the start', async () => {
    const browser = await world.signedIn()
    await world.connect(browser)
    const [completed] = world.provider.requests('account-complete')
    const verifier = String(completed?.json?.['code_verifier'])
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(
      connects()[0]?.json?.['code_challenge'],
    )
    expect(Object.keys(completed?.json ?? {}).sort()).toEqual([
      'auth_session',
      'code_verifier',
      'connect_code',
      'redirect_uri',
    ])
  })

  test.each([
    ['no connection', '', 400, 'MISSING_CONNECTION'],
    ['an empty one', '?connection=', 400, 'MISSING_CONNECTION'],
    ['one that the provider does not know', '?connection=nowhere', 400, 'FAILED_TO_INITIATE'],
  ])('%s', async (_, query, status, code) => {
    const browser = await world.signedIn()
    const response = await browser.send(`/auth/connect${query}`, json)
    expect(response.status).toBe(status)
    expect(await codeOf(response)).toBe(code)
    expect(browser.names('__txn_')).toEqual([])
    const page = await (await browser.send(`/auth/connect${query}`)).text()
    expect(page).toContain('<!doctype html>')
    expect(page).not.toContain('nowhere')
    // The user is signed in: another login would not help.
    expect(page).not.toContain('/auth/login')
  })

  test('[S197] without a session it responds with 401, without a request or a cookie', async () => {
    const browser = world.newBrowser()
    const response = await browser.send('/auth/connect?connection=github', json)
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('MISSING_SESSION')
    expect(browser.cookies.size).toBe(0)
    expect(await (await browser.send('/auth/connect?connection=github')).text()).toContain('/auth/login')
    expect(world.provider.requests()).toEqual([])
  })

  test.each([
    [{ purpose: 'prefetch' }, 204],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'image' }, 403],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }, 403],
  ])(
    'a request that is not a same-site navigation (%j): %i, no request, no cookie',
    async (headers, status) => {
      const browser = await world.signedIn()
      world.provider.clearRequests()
      const response = await browser.send('/auth/connect?connection=github', { headers })
      expect(response.status).toBe(status)
      expect(browser.names('__txn_')).toEqual([])
      expect(world.provider.requests()).toEqual([])
      expect((await browser.send('/auth/connect?connection=github', { method: 'POST' })).status).toBe(405)
    },
  )

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'returnTo %s never leaves the origin',
    async (target) => {
      const browser = await world.signedIn()
      const response = await world.connect(
        browser,
        `?connection=github&returnTo=${encodeURIComponent(target)}`,
      )
      expect(new URL(response.headers.get('location') ?? '').origin).toBe(APP)
    },
  )
})

describe('the callback', () => {
  test('onCallback gets all data of the connection, beforeSessionSaved gets all claims, the session keeps its identity', async () => {
    const seen: [SessionData, string | undefined][] = []
    const { browser, client } = world.another({
      beforeSessionSaved: (session, idToken) => {
        seen.push([session, idToken])
        return { ...session, user: { ...session.user, seen: seen.length }, internal: { createdAt: 1 } }
      },
    })
    await world.login(browser)
    const before = await client.getSession(browser.request('/'))
    world.told.length = 0
    await world.connect(browser, '?connection=github&returnTo=/here')
    const [context, ...more] = world.told
    expect(more).toEqual([])
    expect(context).toMatchObject({
      responseType: 'connect_code',
      challengeMode: 'redirect',
      returnTo: '/here',
      appBaseUrl: APP,
      session: { user: { sub: before?.user.sub, iss: world.provider.issuer, aud: expect.anything() } },
      connectedAccount: {
        id: expect.stringMatching(/./),
        connection: 'github',
        access_type: 'offline',
        scopes: ['upstream:read'],
        created_at: expect.stringMatching(/^\d{4}-/),
      },
    })
    expect(context).not.toHaveProperty('error')
    // Login, refresh for the account API, connect.
    expect(seen).toHaveLength(3)
    const shapes = seen.map(([{ user }]) =>
      Object.keys(user)
        .sort()
        .filter((name) => name !== 'seen'),
    )
    expect(shapes[2]).toEqual(shapes[0])
    expect(seen[2]?.[1]).toBeUndefined()
    const after = await client.getSession(browser.request('/'))
    expect(after?.user['seen']).toBe(3)
    expect(after?.internal).toEqual(before?.internal)
  })

  test('without a hook the user of the session is unchanged', async () => {
    const browser = await world.signedIn()
    const session = await sessionOf(browser)
    const headers = new Headers()
    const changed = { ...session, user: { ...session?.user, plan: 'gold' } } as SessionData
    await world.client.updateSession(browser.request('/'), headers as never, changed)
    browser.store(new Response(null, { headers }))
    await world.connect(browser)
    expect((await sessionOf(browser))?.user).toEqual(changed.user)
  })

  test('a cancelled connection is reported as a decision of the user: 400, the transaction is deleted, the session stays', async () => {
    const browser = await world.signedIn()
    const callback = await world.decide(await world.beginConnect(browser), { connect: 'cancel' })
    const session = browser.cookies.get('__session')?.value
    world.told.length = 0
    const response = await browser.send(callback, json)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('FAILED_TO_COMPLETE')
    expect(world.told).toMatchObject([
      {
        session: null,
        responseType: 'connect_code',
        error: { name: 'ConnectAccountError', code: 'FAILED_TO_COMPLETE', cause: { error: 'access_denied' } },
      },
    ])
    expect(browser.names('__txn_')).toEqual([])
    expect(browser.cookies.get('__session')?.value).toBe(session)
    expect(world.provider.count('account-complete')).toBe(0)
    expect(world.events).toContainEqual(
      expect.objectContaining({ level: 'info', code: 'CONNECT_FAILED', providerError: 'access_denied' }),
    )
  })

  test.each(['request_forbidden', 'request_unauthorized'])(
    'an error with which Ory says that a login is lost (%s) does not start a login',
    async (error) => {
      const browser = await world.signedIn()
      world.clock.now += 1
      const begun = await world.beginConnect(browser, '?connection=github&returnTo=/accounts')
      const callback = new URL(await world.decide(begun, { connect: 'cancel' }))
      callback.searchParams.set('error', error)
      world.told.length = 0
      const response = await browser.send(callback.href)
      expect(world.told).toMatchObject([
        { responseType: 'connect_code', error: { name: 'ConnectAccountError' } },
      ])
      expect(world.events).toContainEqual(expect.objectContaining({ code: 'CONNECT_FAILED' }))
      expect(await response.text()).not.toMatch(/http-equiv="refresh"/)
    },
  )

  test("a cancelled connection without a hook shows a page with the library's own text", async () => {
    const { browser } = world.another({ onCallback: undefined })
    await world.login(browser)
    const callback = new URL(await world.decide(await world.beginConnect(browser), { connect: 'cancel' }))
    callback.searchParams.set('error_description', '<script>alert(1)</script>')
    const page = await (await browser.send(callback.href)).text()
    expect(page).toContain('The account was not connected')
    expect(page).not.toContain('script')
    expect(page).toContain(`href="${APP}/"`)
    expect(page).not.toContain('/auth/login')
  })

  test.each([
    ['missing', (query: URLSearchParams) => query.delete('connect_code'), 'INVALID_CALLBACK'],
    ['empty', (query: URLSearchParams) => query.set('connect_code', ''), 'INVALID_CALLBACK'],
    ['twice', (query: URLSearchParams) => query.append('connect_code', 'x'), 'INVALID_CALLBACK'],
    ['of a login', (query: URLSearchParams) => query.set('code', 'c'), undefined],
    ['of this issuer', (query: URLSearchParams) => query.set('iss', world.provider.issuer), undefined],
    [
      'of another issuer',
      (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
      'ISSUER_MISMATCH',
    ],
    ['wrong', (query: URLSearchParams) => query.set('connect_code', 'wrong'), 'FAILED_TO_COMPLETE'],
  ])('a connect_code that is %s', async (_, change, code) => {
    const browser = await world.signedIn()
    const callback = new URL(await world.decide(await world.beginConnect(browser)))
    change(callback.searchParams)
    const response = await browser.send(callback.href, json)
    expect(browser.names('__txn_')).toEqual([])
    if (code === undefined) {
      expect(response.status).toBe(302)
      return
    }
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe(code)
    expect(accountsOf('alice')).toEqual([])
  })

  test('a wrong state: 400, no request, the transaction stays for the right tab', async () => {
    const browser = await world.signedIn()
    const callback = new URL(await world.decide(await world.beginConnect(browser)))
    const right = callback.href
    callback.searchParams.set('state', 'wrong')
    world.provider.clearRequests()
    expect(await codeOf(await browser.send(callback.href, json))).toBe('UNKNOWN_STATE')
    expect(world.provider.requests()).toEqual([])
    expect((await browser.send(right)).status).toBe(302)
    expect(accountsOf('alice')).toHaveLength(1)
  })

  test('back button and replay redirect to the page, and the code is not sent again', async () => {
    const browser = await world.signedIn()
    const callback = await world.decide(
      await world.beginConnect(browser, '?connection=github&returnTo=/here'),
    )
    const replay = browser.request(callback)
    await browser.send(callback)
    const again = await browser.send(callback)
    expect([again.status, again.headers.get('location')]).toEqual([302, `${APP}/here`])
    world.clock.now += 30
    skipTime(30_000)
    expect((await world.client.middleware(replay)).status).toBe(302)
    expect(world.provider.count('account-complete')).toBe(1)
  })

  test('the same callback twice at once sends the code once, and both succeed', async () => {
    const browser = await world.signedIn()
    const callback = await world.decide(
      await world.beginConnect(browser, '?connection=github&returnTo=/here'),
    )
    const requests = [browser.request(callback), browser.request(callback)]
    const responses = await Promise.all(requests.map((request) => world.client.middleware(request)))
    for (const response of responses) {
      expect(response.headers.get('location')).toBe(`${APP}/here`)
      expect(response.headers.getSetCookie().some((text) => text.startsWith('__session='))).toBe(true)
    }
    expect(world.provider.count('account-complete')).toBe(1)
  })

  test('two tabs at once: both accounts are connected', async () => {
    const browser = await world.signedIn()
    const first = await world.beginConnect(browser, '?connection=github&returnTo=/1')
    const second = await world.beginConnect(browser, '?connection=google-oauth2&returnTo=/2')
    expect((await browser.send(await world.decide(second))).headers.get('location')).toBe(`${APP}/2`)
    expect((await browser.send(await world.decide(first))).headers.get('location')).toBe(`${APP}/1`)
    expect(accountsOf('alice')).toHaveLength(2)
  })

  test('an attempt that expired in this application redirects to the page without a request; one that expired at the provider is an error', async () => {
    const browser = await world.signedIn()
    const late = await world.decide(await world.beginConnect(browser, '?connection=github&returnTo=/here'))
    world.clock.now += 3600
    const response = await browser.send(late)
    expect(response.headers.get('location')).toBe(`${APP}/here`)
    expect(world.provider.count('account-complete')).toBe(0)
    world.clock.now -= 3600
    const forgotten = await world.decide(await world.beginConnect(browser))
    world.provider.clock.advance(3000)
    expect(await codeOf(await browser.send(forgotten, json))).toBe('FAILED_TO_COMPLETE')
    world.provider.clock.advance(-3000)
  })
})

describe('the user of the session', () => {
  async function complete(browser: Browser, callback: string): Promise<void> {
    world.provider.clearRequests()
    world.told.length = 0
    const response = await browser.send(callback, json)
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('MISSING_SESSION')
    expect(world.told).toMatchObject([{ error: { name: 'ConnectAccountError' }, session: null }])
    expect(world.provider.count('account-complete')).toBe(0)
    expect(browser.names('__txn_')).toEqual([])
    for (const { name } of world.provider.users()) expect(accountsOf(name)).toEqual([])
  }

  test('a user of the same browser cannot complete the connection of another one', async () => {
    const browser = await world.signedIn('alice')
    const callback = await world.decide(await world.beginConnect(browser), { user: 'alice' })
    await world.signedIn('bob', browser)
    await complete(browser, callback)
    expect((await sessionOf(browser))?.user.name).toMatch(/bob/i)
  })

  test('a later session of the same user cannot complete it either', async () => {
    const browser = await world.signedIn('alice')
    const callback = await world.decide(await world.beginConnect(browser))
    await world.signedIn('alice', browser)
    await complete(browser, callback)
  })

  test('without a session it cannot be completed', async () => {
    const browser = await world.signedIn('alice')
    const callback = await world.decide(await world.beginConnect(browser))
    browser.cookies.delete('__session')
    await complete(browser, callback)
  })

  test('the callback of another user connects nothing in the browser of a victim', async () => {
    const mallory = await world.signedIn('mallory')
    const callback = await world.decide(await world.beginConnect(mallory))
    const victim = await world.signedIn('alice')
    world.provider.clearRequests()
    expect((await victim.send(callback)).status).toBe(302)
    expect(await codeOf(await world.newBrowser().send(callback, json))).toBe('UNKNOWN_STATE')
    expect(world.provider.requests()).toEqual([])
  })

  test('a callback that shares a result does not restore a session that has ended', async () => {
    const browser = await world.signedIn('alice')
    const callback = await world.decide(await world.beginConnect(browser))
    const repeated = browser.request(callback)
    await browser.send(callback)
    repeated.headers.set('cookie', `${repeated.headers.get('cookie')}`.replace(/__session=[^;]*;? ?/, ''))
    const response = await world.client.middleware(repeated)
    expect(response.status).toBe(302)
    expect(response.headers.getSetCookie().filter((text) => text.startsWith('__session'))).toEqual([])
  })

  test('10 users at once connect an account of their own each', async () => {
    const names = await Promise.all(
      Array.from({ length: 10 }, (_, index) => world.provider.addUser({ name: `user-${index}` })),
    )
    const browsers = await Promise.all(names.map(({ name }) => world.signedIn(name)))
    await Promise.all(
      browsers.map(async (browser, index) => {
        const url = await world.beginConnect(browser)
        await browser.send(await world.decide(url, { account: `account-${index}` }))
      }),
    )
    names.forEach(({ name }, index) => {
      expect(accountsOf(name).map((account) => account.name)).toEqual([`account-${index}`])
    })
    const subs = world.told.flatMap(({ connectedAccount, session }) =>
      connectedAccount ? [[connectedAccount.id, session?.user.sub]] : [],
    )
    expect(new Set(subs.map(([id]) => id)).size).toBe(10)
    expect(new Set(subs.map(([, sub]) => sub)).size).toBe(10)
  })
})

describe('idp.connectAccount', () => {
  test('[S195,S196,S226] returns a redirect response with cookies', async () => {
    const browser = await world.signedIn()
    const response = await world.client.connectAccount(browser.request('/'), {
      connection: 'github',
      scopes: ['repo'],
      authorizationParams: { login_hint: 'me', max: 3, nothing: null, redirect_uri: 'x', client_id: 'evil' },
      returnTo: '/after',
    })
    expect(response.status).toBe(302)
    expect(response.headers.get('cache-control')).toContain('no-store')
    browser.store(response)
    expect(connects()[0]?.json).toMatchObject({
      scopes: ['repo'],
      authorization_params: { login_hint: 'me', max: '3', redirect_uri: 'x' },
    })
    const done = await browser.send(await world.decide(response.headers.get('location') ?? ''))
    expect(done.headers.get('location')).toBe(`${APP}/after`)
  })

  test('a parameter without a string form is a fault of the call', async () => {
    const browser = await world.signedIn()
    const options = { connection: 'github', authorizationParams: { prompt: ['a', 'b'] } } as never
    const error = await rejectionOf(world.client.connectAccount(browser.request('/'), options))
    expect(isIdpError(error, 'INVALID_CONFIGURATION')).toBe(true)
    expect(String(error)).toContain('authorizationParams.prompt')
    expect(connects()).toEqual([])
  })

  test('[S195,S197] throws errors of its class', async () => {
    const request = world.newBrowser().request('/')
    const missing = await rejectionOf(world.client.connectAccount(request, { connection: 'github' }))
    expect(missing).toBeInstanceOf(ConnectAccountError)
    expect(isIdpError(missing, 'MISSING_SESSION')).toBe(true)
    const none = await rejectionOf(world.client.connectAccount(request, {} as never))
    expect(none).toMatchObject({ name: 'ConnectAccountError', code: 'MISSING_CONNECTION' })
    const bare = await rejectionOf(world.client.connectAccount({ connection: 'github' }))
    expect(isIdpError(bare, 'AMBIENT_REQUEST_MISSING')).toBe(true)
  })
})
