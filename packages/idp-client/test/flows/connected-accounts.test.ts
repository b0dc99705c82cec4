import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { AccountApiError, ConnectedAccountsError } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { codeOf, json, startConnectWorld } from '../support/connect.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { toTimeout } from '../support/timeouts.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  for (const { name } of world.provider.users()) world.provider.accounts.remove(name)
  world.provider.settings.accountPageSize = 10
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.told.length = 0
})

type Client = ConnectWorld['client']
const sessionOf = (browser: Browser, client = world.client) => client.getSession(browser.request('/'))

/** Runs an operation with a response that its cookies go to, as a route handler of an application does. */
async function within<T>(browser: Browser, operation: (request: Request, target: Headers) => Promise<T>) {
  const headers = new Headers()
  try {
    return await operation(browser.request('/'), headers)
  } finally {
    browser.store(new Response(null, { headers }))
  }
}

const connectionToken = (browser: Browser, connection: string, client: Client = world.client) =>
  within(browser, (request, target) => client.getAccessTokenForConnection(request, target, { connection }))

const problem = {
  type: 'https://problems.example/1',
  title: 'No',
  detail: 'Not like this.',
  status: 400,
  validation_errors: [{ field: 'scopes', detail: 'too many', pointer: '/scopes', source: 'body' }, 'x', null],
}

function respondWith(status: number, body: unknown = problem) {
  const headers = { 'content-type': 'application/problem+json' }
  return { kind: 'respond', status, headers, body: JSON.stringify(body) } as const
}

describe('errors of the account API', () => {
  test.each([
    [304, 502],
    [400, 400],
    [401, 401],
    [403, 403],
    [404, 404],
    [409, 409],
    [429, 503],
    [500, 502],
    [503, 503],
  ])(
    '%i: one request, the page has %i, no transaction, and shows no text of the provider',
    async (status, shown) => {
      const browser = await world.signedIn()
      world.provider.faults.set('account-connect', respondWith(status))
      const response = await browser.send('/auth/connect?connection=github')
      expect(response.status).toBe(shown)
      const page = await response.text()
      expect(page).not.toContain('Not like this')
      expect(page.includes('/auth/login')).toBe(shown === 401 || shown === 403)
      expect(browser.names('__txn_')).toEqual([])
      expect(world.provider.count('account-connect')).toBe(1)
      expect(await codeOf(await browser.send('/auth/connect?connection=github', json))).toBe(
        'FAILED_TO_INITIATE',
      )
      expect(world.events).toContainEqual(
        expect.objectContaining({ code: 'PROVIDER_FAILURE', endpoint: 'account', status }),
      )
    },
  )

  test('its text is in the cause, limited and without control characters, and nowhere else', async () => {
    const browser = await world.signedIn()
    const long = {
      ...problem,
      title: 'x\u0000\n'.repeat(1000),
      validation_errors: Array(500).fill({ field: 'f' }),
    }
    const failureOf = async (body: unknown) => {
      world.provider.faults.set('account-connect', respondWith(422, body))
      const request = browser.request('/')
      const error = await rejectionOf(world.client.connectAccount(request, { connection: 'github' }))
      expect(error).toMatchObject({ name: 'ConnectAccountError', code: 'FAILED_TO_INITIATE' })
      const { cause } = error as { cause: unknown }
      expect(cause).toBeInstanceOf(AccountApiError)
      const { detail, providerStatus, title, type, validationErrors } = cause as AccountApiError
      return { detail, providerStatus, title, type, validationErrors }
    }
    expect(await failureOf(problem)).toEqual({
      providerStatus: 422,
      type: problem.type,
      title: 'No',
      detail: 'Not like this.',
      validationErrors: [problem.validation_errors[0]],
    })
    const bounded = await failureOf(long)
    expect(bounded.title).toMatch(/^[x ]{1,500}$/)
    expect(bounded.validationErrors).toHaveLength(20)
    expect(await failureOf({ type: 7, title: null, validation_errors: {} })).toEqual({ providerStatus: 422 })
    expect(await failureOf([])).toEqual({ providerStatus: 422 })
    expect(JSON.stringify(world.events)).not.toContain('Not like this')
  })

  test.each([
    ['cannot be reached', { kind: 'reset' }, 502],
    ['does not respond in time', { kind: 'hang' }, 504],
    ['responds with a page', { kind: 'respond', body: '<h1>portal</h1>' }, 502],
    ['redirects', { kind: 'redirect', location: 'http://127.0.0.1:9/' }, 502],
    ['sends too much', { kind: 'huge' }, 502],
  ] as const)('an API that %s: an error, one request, the next attempt works', async (_, fault, status) => {
    const { browser } = world.another({ httpTimeout: toTimeout(fault) })
    await world.signedIn('alice', browser)
    for (const endpoint of ['account-connect', 'account-complete'] as const) {
      world.provider.clearRequests()
      const begin = () => browser.send('/auth/connect?connection=github')
      if (endpoint === 'account-connect') world.provider.faults.set(endpoint, fault)
      const started = await begin()
      if (endpoint === 'account-connect') {
        expect(started.status).toBe(status)
      } else {
        const callback = await world.decide(started.headers.get('location') ?? '')
        world.provider.faults.set(endpoint, fault)
        expect((await browser.send(callback)).status).toBe(status)
      }
      expect(world.provider.count(endpoint)).toBe(1)
      expect(browser.names('__txn_')).toEqual([])
      expect(world.events).toContainEqual(
        expect.objectContaining({ code: 'PROVIDER_FAILURE', endpoint: 'account' }),
      )
      world.provider.faults.clear()
      world.events.length = 0
    }
    expect((await world.connect(browser)).status).toBe(302)
  })

  test('the token endpoint rejects: 401 if another login helps, otherwise 502; the session stays', async () => {
    const browser = await world.signedIn()
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    expect((await browser.send('/auth/connect?connection=github')).status).toBe(503)
    world.provider.faults.clear()
    const { tokenSet, ...session } = (await sessionOf(browser)) ?? expect.fail('there is a session')
    const { refreshToken: _gone, ...rest } = tokenSet
    await within(browser, (request, target) =>
      world.client.updateSession(request, target, { ...session, tokenSet: rest } as never),
    )
    const response = await browser.send('/auth/connect?connection=github', json)
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toBe('FAILED_TO_INITIATE')
  })
})

describe('tokens', () => {
  test('a rotated refresh token is on the redirect, also if the API fails afterwards', async () => {
    const browser = await world.signedIn()
    const refreshToken = async () => (await sessionOf(browser))?.tokenSet.refreshToken
    const first = await refreshToken()
    world.provider.faults.set('account-connect', respondWith(400), { times: 1 })
    expect((await browser.send('/auth/connect?connection=github')).status).toBe(400)
    const second = await refreshToken()
    expect(second).not.toBe(first)
    expect((await world.connect(browser)).status).toBe(302)
    // The token for the account API is still good: nothing was refreshed for the second attempt.
    expect(await refreshToken()).toBe(second)
    const response = await within(browser, (request, target) =>
      world.client.getAccessToken(request, target, { refresh: true }),
    )
    expect(response.token).toEqual(expect.any(String))
  })

  test('a token that expires while the user decides is refreshed in the callback', async () => {
    const own = await startConnectWorld({}, { accessTokenTtl: 60 })
    const browser = await own.signedIn()
    const callback = await own.decide(await own.beginConnect(browser))
    own.clock.now += 90
    // The provider's request to connect lives for a minute.
    own.provider.clock.advance(-50)
    own.provider.clearRequests()
    expect((await browser.send(callback)).status).toBe(302)
    expect(own.provider.count('token')).toBe(1)
    await own.provider.stop()
  })

  test('DPoP: a new proof for each call and after a nonce challenge, never Bearer', async () => {
    const options: IdpClientOptions = {
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
      dpopOptions: { retry: { delay: 1 } },
    }
    const own = await startConnectWorld(options, { requireDpop: true, dpopNonces: true })
    const browser = await own.signedIn()
    expect((await own.connect(browser)).status).toBe(302)
    const [account] = await own.client.listConnectedAccounts(browser.request('/'), new Headers())
    expect(account).toMatchObject({ connection: 'github' })
    const requests = own.provider.requests().filter(({ endpoint }) => endpoint.startsWith('account-'))
    // The API has told no nonce before the first one, and it is remembered after that.
    expect(requests.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ['account-connect', 401],
      ['account-connect', 201],
      ['account-complete', 201],
      ['account-list', 200],
    ])
    const proofs = requests.map(({ headers, method, url }) => {
      expect(headers['authorization']).toMatch(/^DPoP /)
      const proof = String(headers['dpop'])
      expect(decodeProtectedHeader(proof)).toMatchObject({ typ: 'dpop+jwt' })
      const claims = decodeJwt(proof)
      expect(claims).toMatchObject({ htm: method, htu: new URL(url, own.provider.issuer).href })
      return claims.jti
    })
    expect(new Set(proofs).size).toBe(proofs.length)
    await own.provider.stop()
  })

  test('DPoP: only a challenge with a nonce causes a second request', async () => {
    const own = await startConnectWorld(
      { useDPoP: true, dpopKeyPair: await generateDpopKeyPair(), dpopOptions: { retry: { delay: 1 } } },
      { requireDpop: true },
    )
    const browser = await own.signedIn()
    const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"' }
    for (const [status, headers] of [
      [200, { 'dpop-nonce': 'the next one' }],
      [401, challenge],
    ] as const) {
      own.provider.clearRequests()
      own.provider.faults.set('account-list', { ...respondWith(status, { accounts: [] }), headers })
      await own.client.listConnectedAccounts(browser.request('/'), new Headers()).catch(() => [])
      expect(own.provider.count('account-list'), String(status)).toBe(1)
    }
    await own.provider.stop()
  })

  test('a client that authenticates with a key works too', async () => {
    const { clientId, privateKey } = world.provider.keyClient
    const { browser } = world.another({
      clientId,
      clientSecret: undefined,
      clientAssertionSigningKey: privateKey,
    })
    await world.login(browser)
    expect((await world.connect(browser)).status).toBe(302)
    expect(world.provider.accounts.list('alice')).toHaveLength(1)
  })

  test('stored tokens of the connection are removed when it is connected again; others stay', async () => {
    const browser = await world.signedIn()
    for (const connection of ['github', 'google-oauth2']) world.provider.accounts.add('alice', { connection })
    const stale = await connectionToken(browser, 'github')
    const other = await connectionToken(browser, 'google-oauth2')
    await world.connect(browser, '?connection=github&scopes=repo')
    expect((await sessionOf(browser))?.connectionTokenSets).toMatchObject([{ connection: 'google-oauth2' }])
    expect(browser.names('__session__conn_')).toEqual(['__session__conn_0'])
    expect((await connectionToken(browser, 'github')).token).not.toBe(stale.token)
    expect((await connectionToken(browser, 'google-oauth2')).token).toBe(other.token)
  })

  test('a further factor is required: 403 with a page or flat JSON; the method throws it', async () => {
    const own = await startConnectWorld()
    const audience = `${own.provider.issuer.replace(/\/$/, '')}/me/`
    const scopes = ['create', 'read', 'delete'].map((action) => `${action}:me:connected_accounts`)
    own.provider.addApi({ audience, scopes, requiresMfa: true })
    const browser = await own.signedIn()
    const page = await browser.send('/auth/connect?connection=github')
    expect(page.status).toBe(403)
    expect(page.headers.get('content-type')).toContain('text/html')
    const body = await browser.send('/auth/connect?connection=github', json)
    expect(body.status).toBe(403)
    expect(await body.json()).toMatchObject({ error: 'mfa_required', mfa_token: expect.any(String) })
    for (const call of [
      () => own.client.connectAccount(browser.request('/'), { connection: 'github' }),
      () => own.client.listConnectedAccounts(browser.request('/')),
      () => own.client.deleteConnectedAccount(browser.request('/'), new Headers(), { id: 'cac_1' }),
    ]) {
      expect(await rejectionOf(call())).toMatchObject({ name: 'MfaRequiredError' })
    }
    await own.provider.stop()
  })
})

describe('hooks', () => {
  const session = async (browser: Browser) => browser.cookies.get('__session')?.value

  test.each([
    ['onCallback throws', 500],
    ['onCallback denies', 403],
    ['beforeSessionSaved throws', 500],
  ])('%s: only refreshed tokens are saved', async (which, status) => {
    let armed = false
    const { browser } = world.another({
      onCallback: () => {
        if (armed && which === 'onCallback throws') throw new Error('no')
        return armed && which === 'onCallback denies' ? new Response('no', { status: 403 }) : undefined
      },
      beforeSessionSaved: (saved) => {
        if (armed && which === 'beforeSessionSaved throws') throw new Error('no')
        return saved
      },
    })
    await world.login(browser)
    const callback = await world.decide(await world.beginConnect(browser))
    const before = await session(browser)
    armed = true
    expect((await browser.send(callback)).status).toBe(status)
    expect(await session(browser)).toBe(before)
    expect(browser.names('__txn_')).toEqual([])
  })

  test('onCallback decides on the redirect, or responds itself', async () => {
    let result: { returnTo: string } | Response = { returnTo: '/elsewhere' }
    const { browser } = world.another({ onCallback: () => result })
    await world.login(browser)
    expect((await world.connect(browser)).headers.get('location')).toBe(`${APP}/elsewhere`)
    result = { returnTo: '//evil.example' }
    expect(new URL((await world.connect(browser)).headers.get('location') ?? '').origin).toBe(APP)
    result = new Response('connected')
    expect(await (await world.connect(browser)).text()).toBe('connected')
  })

  test('no event contains a token, code, session id or connect_code', async () => {
    const browser = await world.signedIn()
    const url = await world.beginConnect(browser)
    const callback = new URL(await world.decide(url))
    await browser.send(callback.href)
    await browser.send('/auth/connect?connection=nowhere')
    const [completed] = world.provider.requests('account-complete')
    const secrets = [
      new URL(url).searchParams.get('ticket'),
      callback.searchParams.get('connect_code'),
      ...Object.values(completed?.json ?? {}),
      completed?.headers['authorization']?.slice(7),
    ]
    expect(secrets).toHaveLength(7)
    const told = world.events.filter(({ code }) => code !== 'LOGIN_STARTED')
    for (const secret of secrets) expect(JSON.stringify(told)).not.toContain(String(secret))
  })
})

describe('listConnectedAccounts', () => {
  const list = (browser: Browser) =>
    within(browser, (request, target) => world.client.listConnectedAccounts(request, target))

  test('returns the accounts of the user, over all pages', async () => {
    const browser = await world.signedIn()
    world.provider.settings.accountPageSize = 2
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      world.provider.accounts.add('alice', { connection: 'github', name })
    world.provider.accounts.add('bob', { connection: 'github' })
    const accounts = await list(browser)
    expect(accounts.map(({ id }) => id)).toEqual(world.provider.accounts.list('alice').map(({ id }) => id))
    expect(accounts[0]).toEqual({
      id: expect.any(String),
      connection: 'github',
      access_type: 'offline',
      scopes: ['upstream:read'],
      created_at: expect.any(String),
    })
    expect(world.provider.count('account-list')).toBe(3)
    expect(await list(await world.signedIn('mallory'))).toEqual([])
  })

  test('asks for JSON, and returns the optional properties of an account', async () => {
    const browser = await world.signedIn()
    const account = { id: 'cac_1', connection: 'github', expires_at: '2030-01-01T00:00:00.000Z' }
    world.provider.faults.set('account-list', respondWith(200, { accounts: [account] }), { times: 1 })
    expect(await list(browser)).toEqual([{ ...account, scopes: [] }])
    const [request] = world.provider.requests('account-list')
    expect(request?.headers).toMatchObject({ accept: 'application/json, application/problem+json' })
    expect(request?.headers).not.toHaveProperty('content-type')
  })

  test('a page token that repeats is rejected', async () => {
    const browser = await world.signedIn()
    world.provider.settings.accountPageSize = 1
    for (const name of ['a', 'b', 'c']) world.provider.accounts.add('alice', { connection: 'github', name })
    let first: unknown
    world.provider.rewrite('account-list', (body) => {
      first ??= body['next']
      body['next'] = first
    })
    const refused = { code: 'FAILED_TO_LIST', cause: { code: 'RESPONSE_INVALID', endpoint: 'account' } }
    expect(await rejectionOf(list(browser))).toMatchObject(refused)
    expect(world.provider.count('account-list')).toBe(2)
  })

  test('100 pages are read, 101 are rejected', async () => {
    const browser = await world.signedIn()
    world.provider.settings.accountPageSize = 1
    const add = (name: string) => world.provider.accounts.add('alice', { connection: 'github', name })
    for (let count = 0; count < 100; count++) add(`account-${count}`)
    expect(await list(browser)).toHaveLength(100)
    add('one more')
    world.provider.clearRequests()
    expect(await rejectionOf(list(browser))).toMatchObject({ code: 'FAILED_TO_LIST' })
    expect(world.provider.count('account-list')).toBe(100)
  })

  test.each([
    [[], 'accounts is missing.'],
    [{}, 'accounts is missing.'],
    [{ accounts: {} }, 'accounts is missing.'],
    [{ accounts: [null] }, 'id is missing.'],
    [{ accounts: ['x'] }, 'id is missing.'],
    [{ accounts: [{ id: 'x' }] }, 'connection is missing.'],
  ])('the response %j is rejected', async (body, message) => {
    const browser = await world.signedIn()
    world.provider.faults.set('account-list', respondWith(200, body))
    expect(await rejectionOf(list(browser))).toMatchObject({
      name: 'ConnectedAccountsError',
      code: 'FAILED_TO_LIST',
      cause: { code: 'RESPONSE_INVALID', message: expect.stringContaining(message) },
    })
  })

  test('throws errors of its class', async () => {
    const missing = await rejectionOf(world.client.listConnectedAccounts(world.newBrowser().request('/')))
    expect(missing).toBeInstanceOf(ConnectedAccountsError)
    expect(missing).toMatchObject({ code: 'MISSING_SESSION' })
    const browser = await world.signedIn()
    world.provider.faults.set('account-list', respondWith(403))
    expect(await rejectionOf(list(browser))).toMatchObject({
      code: 'FAILED_TO_LIST',
      cause: { name: 'AccountApiError', providerStatus: 403 },
    })
  })
})

describe('deleteConnectedAccount', () => {
  const remove = (browser: Browser, options: { id: string; connection?: string }) =>
    within(browser, (request, target) => world.client.deleteConnectedAccount(request, target, options))

  async function connected(): Promise<Browser> {
    const browser = await world.signedIn()
    for (const connection of ['github', 'google-oauth2']) {
      world.provider.accounts.add('alice', { connection })
      await connectionToken(browser, connection)
    }
    expect((await sessionOf(browser))?.connectionTokenSets).toHaveLength(2)
    return browser
  }

  test('deletes the account and the stored tokens of its connection', async () => {
    const browser = await connected()
    world.provider.settings.connectionsNeedAccounts = true
    const [account] = await world.client.listConnectedAccounts(browser.request('/'), new Headers())
    await remove(browser, account ?? expect.fail('there is an account'))
    expect(world.provider.accounts.list('alice')).toMatchObject([{ connection: 'google-oauth2' }])
    expect((await sessionOf(browser))?.connectionTokenSets).toMatchObject([{ connection: 'google-oauth2' }])
    expect(await rejectionOf(connectionToken(browser, 'github'))).toMatchObject({
      code: 'FAILED_TO_EXCHANGE_REFRESH_TOKEN',
    })
    world.provider.settings.connectionsNeedAccounts = false
    expect(world.provider.requests('account-delete')).toHaveLength(1)
  })

  test('removes the stored tokens of all connections if no connection is given', async () => {
    const browser = await connected()
    const [account] = world.provider.accounts.list('alice')
    await remove(browser, { id: String(account?.id) })
    expect((await sessionOf(browser))?.connectionTokenSets).toBeUndefined()
    expect(browser.names('__session__conn_')).toEqual([])
  })

  test('reports a lost response or a rejection, and removes stored tokens anyway', async () => {
    const browser = await connected()
    const [account] = world.provider.accounts.list('alice')
    world.provider.faults.set('account-delete', { kind: 'reset', at: 'commit' })
    const options = { id: String(account?.id), connection: 'github' }
    expect(await rejectionOf(remove(browser, options))).toMatchObject({
      name: 'ConnectedAccountsError',
      code: 'FAILED_TO_DELETE',
      cause: { name: 'OAuthError' },
    })
    expect((await sessionOf(browser))?.connectionTokenSets).toMatchObject([{ connection: 'google-oauth2' }])
    world.provider.faults.clear()
    expect(await rejectionOf(remove(browser, options))).toMatchObject({
      cause: { name: 'AccountApiError', providerStatus: 404 },
    })
  })

  test('cannot delete the account of another user', async () => {
    const account = world.provider.accounts.add('bob', { connection: 'github' })
    const browser = await world.signedIn('alice')
    expect(await rejectionOf(remove(browser, account))).toMatchObject({ code: 'FAILED_TO_DELETE' })
    expect(world.provider.accounts.list('bob')).toHaveLength(1)
  })

  test.each(['', '.', '..', 'x'.repeat(513), 7, undefined])(
    'id %j is rejected before any request',
    async (id) => {
      const browser = await world.signedIn()
      world.provider.clearRequests()
      expect(await rejectionOf(remove(browser, { id: id as string }))).toMatchObject({
        code: 'INVALID_REQUEST',
      })
      expect(world.provider.requests()).toEqual([])
    },
  )

  test('an id cannot change the path', async () => {
    const browser = await world.signedIn()
    await rejectionOf(remove(browser, { id: '../connect?x=/y#z' }))
    const { pathname } = new URL(world.provider.requests('account-delete')[0]?.url ?? '', APP)
    expect(pathname).toBe('/me/v1/connected-accounts/accounts/..%2Fconnect%3Fx%3D%2Fy%23z')
  })

  test('throws without a session, and where no cookie can be written', async () => {
    const options = { id: 'cac_1' }
    expect(await rejectionOf(remove(world.newBrowser(), options))).toMatchObject({
      name: 'ConnectedAccountsError',
      code: 'MISSING_SESSION',
    })
    const browser = await world.signedIn()
    const request = browser.request('/')
    expect(
      await rejectionOf(world.client.deleteConnectedAccount(request, undefined as never, options)),
    ).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })
})
