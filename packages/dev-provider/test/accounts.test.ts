import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { CALLBACK, oauthError, relyingParty } from './relying-party.ts'

const CREATE = 'create:me:connected_accounts'
const READ = 'read:me:connected_accounts'
const DELETE = 'delete:me:connected_accounts'
const GITHUB = {
  connection: 'github',
  redirect_uri: CALLBACK,
  state: 'state-1',
  code_challenge_method: 'S256',
}

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())
beforeEach(() => {
  for (const { name } of provider.users()) provider.accounts.remove(name)
  provider.settings.connectionsNeedAccounts = false
})

type Json = Record<string, unknown>

interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  readonly json: Json
}

interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

async function call(
  token: string | undefined,
  path: string,
  { method, body, headers }: CallOptions = {},
): Promise<ApiResponse> {
  const response = await fetch(`${provider.origin}/me/v1/connected-accounts/${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : {} }
}

/** Tokens of a login, turned into one for the account API. */
async function fetchAccessToken(user = 'alice', scope = `${CREATE} ${READ} ${DELETE}`): Promise<string> {
  const tokens = await app.logIn({}, { user })
  return (await app.refresh(tokens, { audience: `${provider.issuer}/me/`, scope })).access_token
}

interface Started {
  readonly authSession: string
  readonly verifier: string
  readonly url: string
}

async function start(token: string, changes: Json = {}): Promise<Started> {
  const verifier = client.randomPKCECodeVerifier()
  const code_challenge = await client.calculatePKCECodeChallenge(verifier)
  const { status, json } = await call(token, 'connect', { body: { ...GITHUB, code_challenge, ...changes } })
  expect(status).toBe(201)
  expect(json).toEqual({
    connect_uri: `${provider.origin}/connect/account`,
    connect_params: { ticket: expect.any(String) },
    auth_session: expect.any(String),
    expires_in: 300,
  })
  const { ticket } = json['connect_params'] as { ticket: string }
  return {
    authSession: String(json['auth_session']),
    verifier,
    url: `${json['connect_uri']}?${new URLSearchParams({ ticket })}`,
  }
}

async function accept({ url }: Started, account?: string): Promise<string> {
  const { location } = await provider.login(url, account === undefined ? {} : { account })
  return new URL(location ?? '').searchParams.get('connect_code') ?? ''
}

function finish(token: string, started: Started, code: string, changes: Json = {}): Promise<ApiResponse> {
  return call(token, 'complete', {
    body: {
      auth_session: started.authSession,
      connect_code: code,
      redirect_uri: CALLBACK,
      code_verifier: started.verifier,
      ...changes,
    },
  })
}

/** The token that the connection hands out. */
function upstream(tokens: Tokens, parameters: Record<string, string> = {}): Promise<Tokens> {
  return app.grant('urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token', {
    connection: 'github',
    subject_token: tokens.refresh_token ?? '',
    subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
    requested_token_type: 'http://auth0.com/oauth/token-type/federated-connection-access-token',
    ...parameters,
  })
}

const NOT_CONNECTED = 'federated_connection_refresh_token_not_found'

describe('connecting an account', () => {
  test('redirects from the application to the page, back with a code, and ends with the account', async () => {
    const token = await fetchAccessToken()
    const started = await start(token, { scopes: ['repo', 'offline_access'] })
    const { location } = await provider.login(started.url, { account: 'alice-at-github' })
    const back = new URL(location ?? '')
    expect(back.origin + back.pathname).toBe(CALLBACK)
    expect(back.searchParams.get('state')).toBe('state-1')
    const { status, json } = await finish(token, started, back.searchParams.get('connect_code') ?? '')
    expect(status).toBe(201)
    expect(json).toEqual({
      id: expect.stringMatching(/^cac_/),
      connection: 'github',
      access_type: 'offline',
      scopes: ['repo', 'offline_access'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    expect(provider.accounts.list('alice')).toEqual([
      expect.objectContaining({
        id: json['id'],
        name: 'alice-at-github',
        scopes: ['repo', 'offline_access'],
      }),
    ])
    expect(provider.accounts.list('bob')).toEqual([])
    expect(provider.requests('account-connect').at(-1)?.json).toMatchObject(GITHUB)
    expect(provider.count('account-complete')).toBe(1)
  })

  test('shows a page that names what will be connected, and suggests a name', async () => {
    const { url } = await start(await fetchAccessToken(), {
      scopes: ['repo'],
      authorization_params: { login_hint: '"><script>' },
    })
    const page = await provider.visit(url)
    if (page.kind !== 'page') throw new Error('expected a page')
    expect(page.html).toContain('<b>Development app</b>')
    expect(page.html).toContain('<b>github</b>')
    expect(page.html).toContain('<code>repo</code>')
    expect(page.html).toContain('value="&quot;&gt;&lt;script&gt;"')
    expect(await provider.visit(url, { connect: 'accept', account: ' ' })).toMatchObject({ status: 422 })
    const accepted = await provider.visit(url, { connect: 'accept' })
    expect(accepted).toMatchObject({ kind: 'redirect', location: expect.stringContaining('connect_code=') })
  })

  test('can be cancelled', async () => {
    const { url } = await start(await fetchAccessToken(), {
      state: 'a&b',
      redirect_uri: `${CALLBACK}?tenant=%20`,
    })
    const { location } = await provider.login(url, { connect: 'cancel' })
    expect(location?.startsWith(`${CALLBACK}?tenant=%20&`)).toBe(true)
    expect(Object.fromEntries(new URL(location ?? '').searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a&b',
    })
  })

  test('works once per ticket, and not after the ticket has expired', async () => {
    const token = await fetchAccessToken()
    for (const connect of ['accept', 'cancel'] as const) {
      const { url } = await start(token)
      await provider.login(url, { connect })
      expect(await provider.visit(url, { connect: 'accept' })).toMatchObject({ kind: 'page', status: 400 })
    }
    const { url } = await start(token)
    provider.clock.advance(300)
    try {
      await expect(provider.login(url)).rejects.toThrow(/invalid_ticket/)
    } finally {
      provider.clock.reset()
    }
  })

  test('is rejected in the browser of another user, but not of the same one', async () => {
    const jars = { alice: provider.createJar(), bob: provider.createJar() }
    for (const [user, jar] of Object.entries(jars)) await app.logIn({}, { user, jar })
    const { url } = await start(await fetchAccessToken())
    await expect(provider.login(url, { jar: jars.bob })).rejects.toThrow(/status 403.*access_denied/)
    expect((await provider.login(url, { jar: jars.alice })).location).toContain('connect_code=')
  })

  test('is at the origin even if the issuer has a path', async () => {
    const tenant = await startDevProvider({ path: '/tenant-a' })
    try {
      const party = await relyingParty(tenant)
      const tokens = await party.logIn()
      const { access_token } = await party.refresh(tokens, { audience: `${tenant.issuer}/me/`, scope: READ })
      const headers = { authorization: `Bearer ${access_token}` }
      const response = await fetch(`${tenant.origin}/me/v1/connected-accounts/accounts`, { headers })
      expect(await response.json()).toEqual({ accounts: [] })
    } finally {
      await tenant.stop()
    }
  })
})

describe('a request to connect is rejected', () => {
  const challenge = 'c'.repeat(43)

  test.each<[string, Json]>([
    ['connection', { connection: 'nowhere' }],
    ['connection', { connection: 7 }],
    ['redirect_uri', { redirect_uri: 'https://elsewhere.example/callback' }],
    ['redirect_uri', { redirect_uri: `${CALLBACK}#fragment` }],
    ['redirect_uri', { redirect_uri: undefined }],
    ['state', { state: '' }],
    ['code_challenge', { code_challenge: 'short' }],
    ['code_challenge_method', { code_challenge_method: 'plain' }],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['repo', 'two words'] }],
    ['authorization_params', { authorization_params: ['a'] }],
  ])('for its %s: %o', async (field, changes) => {
    const body = { ...GITHUB, code_challenge: challenge, ...changes }
    const { status, headers, json } = await call(await fetchAccessToken(), 'connect', { body })
    expect(status).toBe(400)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(json).toMatchObject({ type: expect.any(String), title: 'Invalid Request', status: 400 })
    expect(json['validation_errors']).toEqual([{ field, detail: expect.any(String) }])
  })

  test('if it is not a JSON object, or not a POST', async () => {
    const token = await fetchAccessToken()
    expect((await call(token, 'connect', { body: '[]' })).status).toBe(400)
    expect((await call(token, 'connect', { body: '{' })).status).toBe(400)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await call(token, 'connect', { body: 'a=b', headers: form })).status).toBe(415)
    const get = await call(token, 'connect')
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('the completion is rejected', () => {
  test('with a wrong part, for another user, twice, and too late', async () => {
    const [alice, bob] = [await fetchAccessToken(), await fetchAccessToken('bob')]
    const started = await start(alice)
    const code = await accept(started)
    const wrong: Json[] = [
      { auth_session: 'another' },
      { connect_code: 'another' },
      { redirect_uri: `${CALLBACK}/` },
      { code_verifier: client.randomPKCECodeVerifier() },
      { code_verifier: undefined },
    ]
    for (const changes of wrong) {
      expect(await finish(alice, started, code, changes)).toMatchObject({ status: 400 })
    }
    expect((await finish(bob, started, code)).json).toMatchObject({ status: 400, title: 'Invalid Request' })
    expect((await finish(alice, started, code)).status).toBe(201)
    expect((await finish(alice, started, code)).status).toBe(400)
    expect(provider.accounts.list('alice')).toHaveLength(1)

    const late = await start(alice)
    const lateCode = await accept(late)
    provider.clock.advance(60)
    try {
      expect((await finish(alice, late, lateCode)).status).toBe(400)
    } finally {
      provider.clock.reset()
    }
  })

  test('before the user has agreed', async () => {
    const token = await fetchAccessToken()
    expect((await finish(token, await start(token), 'guessed')).status).toBe(400)
  })
})

describe('the list of accounts', () => {
  test('is paged, also if entries are removed meanwhile', async () => {
    const token = await fetchAccessToken()
    const made = Array.from({ length: 12 }, (_, index) =>
      provider.accounts.add('alice', {
        connection: index % 2 ? 'github' : 'google-oauth2',
        name: `n${index}`,
      }),
    )
    provider.accounts.add('bob', { connection: 'github' })
    const first = await call(token, 'accounts')
    expect(first.json['accounts']).toHaveLength(10)
    provider.accounts.remove('alice', made[9]?.id)
    const second = await call(token, `accounts?from=${first.json['next']}`)
    expect(second.json).toEqual({
      accounts: made.slice(10).map(({ id }) => expect.objectContaining({ id, access_type: 'offline' })),
    })
    expect((await call(token, `accounts?next=${first.json['next']}`)).json).toEqual(second.json)
    const small = await call(token, 'accounts?connection=github&take=2')
    expect(small.json['accounts']).toEqual([
      expect.objectContaining({ id: made[1]?.id }),
      expect.objectContaining({ id: made[3]?.id }),
    ])
    expect(small.json['next']).toEqual(expect.any(String))
    for (const query of ['take=0', 'take=21', 'take=x', 'from=x']) {
      expect(await call(token, `accounts?${query}`)).toMatchObject({
        status: 400,
        json: { validation_errors: [{ field: query.split('=')[0] }] },
      })
    }
  })

  test('has pages of the configured size, and contains when an account expires', async () => {
    const token = await fetchAccessToken()
    provider.accounts.add('alice', { connection: 'github', expiresAt: 1_900_000_000 })
    provider.accounts.add('alice', { connection: 'google-oauth2' })
    provider.settings.accountPageSize = 1
    try {
      const { json } = await call(token, 'accounts')
      expect(json['accounts']).toMatchObject([{ expires_at: '2030-03-17T17:46:40.000Z' }])
    } finally {
      provider.settings.accountPageSize = 10
    }
  })

  test('loses an account that its user removes, and no other', async () => {
    const [alice, bob] = [await fetchAccessToken(), await fetchAccessToken('bob')]
    const { id } = provider.accounts.add('alice', { connection: 'github' })
    expect(await call(bob, `accounts/${id}`, { method: 'DELETE' })).toMatchObject({
      status: 404,
      json: { title: 'Not Found' },
    })
    expect(provider.accounts.list('alice')).toHaveLength(1)
    expect((await call(alice, `accounts/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await call(alice, `accounts/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await call(alice, 'accounts')).json).toEqual({ accounts: [] })
    expect(provider.count('account-delete')).toBe(3)
  })
})

describe('access to the account API', () => {
  test('requires a valid token for its audience, of a user', async () => {
    const audience = `${provider.issuer}/me/`
    const tokens = await app.logIn({ audience: 'https://api.example.test/', scope: `openid ${READ}` })
    const machine = await client.clientCredentialsGrant(app.config, { audience, scope: READ })
    for (const token of [undefined, 'nonsense', tokens.access_token, tokens.id_token, machine.access_token]) {
      const { status, headers, json } = await call(token, 'accounts')
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect(json).toMatchObject({ title: 'Unauthorized', status: 401, detail: expect.any(String) })
    }
    const live = await fetchAccessToken()
    provider.clock.advance(3600)
    try {
      expect((await call(live, 'accounts')).status).toBe(401)
    } finally {
      provider.clock.reset()
    }
  })

  test('requires the scope of the operation; a token has no scope of another API', async () => {
    const read = await fetchAccessToken('alice', `${READ} read:things`)
    const remove = await fetchAccessToken('alice', DELETE)
    expect((await call(read, 'accounts')).status).toBe(200)
    const refused = [
      await call(read, 'connect', { body: {} }),
      await call(read, 'complete', { body: {} }),
      await call(read, 'accounts/x', { method: 'DELETE' }),
      await call(remove, 'accounts'),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(refused[0]?.json).toMatchObject({ title: 'Insufficient Scope', status: 403 })
    expect(refused[0]?.headers.get('www-authenticate')).toContain(`scope="${CREATE}"`)
    const payload: Json = JSON.parse(Buffer.from(read.split('.')[1] ?? '', 'base64url').toString())
    expect(payload['scope']).toBe(READ)
  })

  test('requires a proof if the token is bound, with a nonce if configured', async () => {
    const handle = client.getDPoPHandle(app.config, await client.randomDPoPKeyPair('ES256'))
    const party = await relyingParty(provider, { dpop: handle })
    const other = client.getDPoPHandle(app.config, await client.randomDPoPKeyPair('ES256'))
    const tokens = await party.logIn()
    const audience = `${provider.issuer}/me/`
    const { access_token: token } = await party.refresh(tokens, { audience, scope: READ })
    const url = new URL('/me/v1/connected-accounts/accounts', provider.issuer)
    const ask = (DPoP: client.DPoPHandle): Promise<Response> =>
      client.fetchProtectedResource(app.config, token, url, 'GET', undefined, undefined, { DPoP })
    expect((await ask(handle)).status).toBe(200)
    await expect(ask(other)).rejects.toMatchObject({
      cause: [{ parameters: { error: 'invalid_dpop_proof' } }],
    })
    expect((await call(token, 'accounts')).status).toBe(401)
    expect((await call(undefined, 'accounts', { headers: { authorization: `DPoP ${token}` } })).status).toBe(
      401,
    )

    provider.settings.dpopNonces = true
    try {
      const before = provider.count('account-list')
      expect((await ask(handle)).status).toBe(200)
      expect((await ask(handle)).status).toBe(200)
      const asked = provider.requests('account-list').slice(before)
      expect(asked.map(({ status }) => status)).toEqual([401, 200, 200])
      // A proof is good for one request.
      const headers = { authorization: `DPoP ${token}`, dpop: asked[2]?.headers['dpop'] ?? '' }
      const again = await call(undefined, 'accounts', { headers })
      expect(again.headers.get('www-authenticate')).toBe('DPoP error="invalid_dpop_proof"')
    } finally {
      provider.settings.dpopNonces = false
    }
  })
})

describe('tokens of connected accounts', () => {
  test('have the scopes of the account that the hint selects', async () => {
    const tokens = await app.logIn()
    provider.accounts.add('alice', { connection: 'github', name: 'private', scopes: ['gist'] })
    provider.accounts.add('alice', { connection: 'github', name: 'work', scopes: ['repo', 'user'] })
    expect((await upstream(tokens)).scope).toBe('repo user')
    expect((await upstream(tokens, { login_hint: 'private' })).scope).toBe('gist')
    expect(await oauthError(upstream(tokens, { login_hint: 'third' }))).toBe(NOT_CONNECTED)
  })

  test('are rejected once the account is removed or has expired, until it is connected again', async () => {
    await provider.addUser({ name: 'dora' })
    const tokens = await app.logIn({}, { user: 'dora' })
    expect((await upstream(tokens)).scope).toBe('upstream:read')
    provider.accounts.add('dora', { connection: 'github' })
    provider.accounts.remove('dora')
    const refused = await upstream(tokens).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 401, error: NOT_CONNECTED })
    const { id } = provider.accounts.add('dora', { connection: 'github', expiresAt: provider.clock.now() })
    expect(await oauthError(upstream(tokens))).toBe(NOT_CONNECTED)
    expect(provider.accounts.add('dora', { connection: 'github', scopes: ['repo'] }).id).toBe(id)
    expect((await upstream(tokens)).scope).toBe('repo')
    expect((await upstream(tokens, { connection: 'google-oauth2' })).scope).toBe('upstream:read')
  })

  test('require an account if configured', async () => {
    provider.settings.connectionsNeedAccounts = true
    const tokens = await app.logIn({}, { user: 'mallory' })
    expect(await oauthError(upstream(tokens))).toBe(NOT_CONNECTED)
    provider.accounts.add('mallory', { connection: 'github' })
    await upstream(tokens)
  })
})

test('the overview lists connected accounts; accounts of unknown users and connections are rejected', async () => {
  provider.accounts.add('alice', { connection: 'github', name: '<work>' })
  const page = await provider.visit(`${provider.issuer}/dev`)
  expect(page.kind === 'page' && page.html).toMatch(/>github<.*>&lt;work&gt;</)
  expect(() => provider.accounts.add('nobody', { connection: 'github' })).toThrow(/no user/)
  expect(() => provider.accounts.add('alice', { connection: 'nowhere' })).toThrow(/no such connection/)
  expect(provider.accounts.remove('alice', 'another')).toBe(false)
})
