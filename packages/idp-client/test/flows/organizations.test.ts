import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpError } from '../../src/errors/base.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, currentTime, startWorld } from '../support/app.ts'

const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'
const GLOBEX = { org_id: 'org_globex', org_name: 'globex' }
const TTL = 600
const bob = { user: 'bob' }

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.clock.now = currentTime()
})

type Claims = Readonly<Record<string, unknown>>

/** Sends these claims instead of the provider's; `undefined` takes one away. */
function named(claims: Claims): void {
  world.provider.tamperIdToken((token) => {
    Object.assign(token, claims)
  })
}

const userOf = async (browser: Browser) => (await world.client.getSession(browser.request('/')))?.user

describe('a login for an organization', () => {
  test.each(['org_globex', 'globex', 'GloBex'])('[S102] %s', async (organization) => {
    const browser = world.newBrowser()
    const response = await world.login(browser, `?organization=${organization}`, bob)
    expect(response.headers.get('location')).toBe(`${APP}/`)
    expect(await userOf(browser)).toMatchObject({ sub: 'dev|bob', ...GLOBEX })
  })

  test('of a user who is not a member creates no session, and reports the reason', async () => {
    const errors: unknown[] = []
    const onCallback: IdpClientOptions['onCallback'] = ({ error }) => {
      errors.push(error)
    }
    const { browser, client } = world.another({
      onCallback,
      authorizationParameters: { organization: 'globex' },
    })
    const response = await world.login(browser)
    expect(response.status).toBe(400)
    expect(errors).toMatchObject([{ code: 'AUTHORIZATION_ERROR', cause: { error: 'access_denied' } }])
    expect(world.provider.count('token')).toBe(0)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test.each<[string, string, Claims]>([
    ['another id', 'org_globex', { org_id: 'org_acme' }],
    ['another id under the right name', 'org_globex', { org_id: 'org_acme', org_name: 'org_globex' }],
    ['the id in another case', 'org_globex', { org_id: 'ORG_GLOBEX' }],
    ['another name', 'globex', { org_id: 'org_acme', org_name: 'acme' }],
    ['no organization', 'org_globex', { org_id: undefined, org_name: undefined }],
    ['an id only, if a name was requested', 'globex', { org_name: undefined }],
    ['a list of names', 'globex', { org_name: ['globex'] }],
  ])('that brings %s is refused', async (_what, organization, claims) => {
    named(claims)
    const browser = world.newBrowser()
    const response = await world.login(browser, `?organization=${organization}`, bob)
    expect(response.status).toBe(502)
    expect(await userOf(browser)).toBeUndefined()
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'PROVIDER_FAILURE', error: 'ID_TOKEN_INVALID' }),
    )
  })

  test('that does not fit into a cookie is rejected at the start', async () => {
    const browser = world.newBrowser()
    const begin = (length: number) =>
      browser.send(`/auth/login?organization=${'%F0%9F%8F%A2'.repeat(length / 2)}`)
    expect((await begin(258)).status).toBe(400)
    expect(browser.names('__txn_')).toEqual([])
    expect((await begin(256)).status).toBe(302)
    const [name = ''] = browser.names('__txn_')
    expect(`${name}=${browser.cookies.get(name)?.value}`.length).toBeLessThanOrEqual(3000)
  })

  test('without one, the claim of the ID token is used', async () => {
    const browser = world.newBrowser()
    await world.login(browser, '', bob)
    expect(await userOf(browser)).not.toHaveProperty('org_id')
    named({ org_id: 'org_acme' })
    await world.login(browser, '', bob)
    expect(await userOf(browser)).toMatchObject({ org_id: 'org_acme' })
  })
})

describe('a refresh', () => {
  function expire(): void {
    world.clock.now += TTL + 1
  }

  /** A browser whose access token has expired. */
  async function signedIn(query = '?organization=globex'): Promise<Browser> {
    const browser = world.newBrowser()
    await world.login(browser, query, bob)
    expire()
    return browser
  }

  async function refresh(browser: Browser, options: Record<string, unknown> = {}): Promise<string> {
    const headers = new Headers()
    const { token } = await world.client.getAccessToken(browser.request('/'), headers, options)
    browser.store(new Response(null, { headers }))
    return token
  }

  const tokensOf = async (browser: Browser) => (await world.client.getSession(browser.request('/')))?.tokenSet

  async function refusedBy(browser: Browser, options?: Record<string, unknown>): Promise<IdpError> {
    const before = await tokensOf(browser)
    const error: unknown = await refresh(browser, options).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ name: 'AccessTokenError', code: 'FAILED_TO_REFRESH_TOKEN' })
    const { cause } = error as IdpError
    expect(cause).toMatchObject({ name: 'OAuthError', code: 'ID_TOKEN_INVALID' })
    // Nothing of the response was stored, not even its refresh token.
    expect(await tokensOf(browser)).toEqual(before)
    return cause as IdpError
  }

  test('keeps the organization', async () => {
    const browser = await signedIn()
    const before = await tokensOf(browser)
    await refresh(browser)
    expect((await tokensOf(browser))?.refreshToken).not.toBe(before?.refreshToken)
    expect((await tokensOf(browser))?.idToken).not.toBe(before?.idToken)
    expect(await userOf(browser)).toMatchObject(GLOBEX)
  })

  test.each<[string, Claims]>([
    ['another organization', { org_id: 'org_acme', org_name: 'acme' }],
    ['another id', { org_id: 'org_acme' }],
    ['another name', { org_name: 'acme' }],
    ['another id without name', { org_id: 'org_acme', org_name: undefined }],
  ])('to %s: the whole response is rejected', async (_what, claims) => {
    const browser = await signedIn()
    named(claims)
    expect((await refusedBy(browser)).message).toMatch(/org_(id|name) is not that of the ID token before/)
    expect(await userOf(browser)).toMatchObject(GLOBEX)
  })

  test.each<[string, Claims]>([
    ['no organization', { org_id: undefined, org_name: undefined }],
    ['no name', { org_name: undefined }],
    ['null as id', { org_id: null }],
  ])('[M2] with %s keeps ID token and user, and takes the new tokens', async (_what, claims) => {
    const browser = await signedIn()
    const before = await tokensOf(browser)
    named(claims)
    world.events.length = 0
    const token = await refresh(browser)
    const after = await tokensOf(browser)
    expect(after).toMatchObject({ accessToken: token, idToken: before?.idToken })
    expect(after?.refreshToken).not.toBe(before?.refreshToken)
    expect(await userOf(browser)).toMatchObject(GLOBEX)
    expect(world.events).toContainEqual(
      expect.objectContaining({ level: 'warn', code: 'REFRESHED_ID_TOKEN_IGNORED', reason: 'organization' }),
    )
  })

  test('for another API checks it too', async () => {
    const browser = await signedIn(`?organization=globex&audience=${encodeURIComponent(API)}`)
    named({ org_id: 'org_acme', org_name: 'acme' })
    await refusedBy(browser, { audience: ORDERS, scope: 'openid read:orders' })
    world.provider.faults.clear()
    const other = await signedIn()
    await refresh(other, { audience: ORDERS, scope: 'openid read:orders' })
    expect(await userOf(other)).toMatchObject(GLOBEX)
  })

  test('adds no organization to a session', async () => {
    const browser = await signedIn('')
    named(GLOBEX)
    await refusedBy(browser)
    expect(await userOf(browser)).not.toHaveProperty('org_id')
  })

  test('may add a name to the same organization', async () => {
    named({ org_name: undefined })
    const browser = await signedIn('?organization=org_globex')
    expect(await userOf(browser)).not.toHaveProperty('org_name')
    world.provider.faults.clear()
    await refresh(browser)
    expect(await userOf(browser)).toMatchObject(GLOBEX)
  })

  test('without an ID token keeps that of the login, and so its organization', async () => {
    const browser = await signedIn()
    world.provider.rewrite('token', ({ id_token: _none, ...rest }) => rest, { times: 1 })
    await refresh(browser)
    expect(await userOf(browser)).toMatchObject(GLOBEX)
    expire()
    named({ org_id: 'org_acme' })
    await refusedBy(browser)
  })
})

test('a token exchange for an organization checks it', async () => {
  const exchange = () =>
    world.client.customTokenExchange({
      subjectToken: 'bob',
      subjectTokenType: 'urn:example:legacy',
      organization: 'globex',
    })
  expect((await exchange()).idToken).toEqual(expect.any(String))
  named({ org_id: 'org_acme', org_name: 'acme' })
  await expect(exchange()).rejects.toMatchObject({
    code: 'EXCHANGE_FAILED',
    cause: { code: 'ID_TOKEN_INVALID' },
  })
})

test('a backchannel login for an organization checks it', async () => {
  world.provider.settings.cibaAutoApprove = true
  const authenticate = () =>
    world.client.getTokenByBackchannelAuth({
      bindingMessage: 'ABC-123',
      loginHint: { sub: 'dev|bob' },
      authorizationParams: { organization: 'globex' },
    })
  expect((await authenticate()).idTokenClaims).toMatchObject(GLOBEX)
  named({ org_id: 'org_acme', org_name: 'acme' })
  await expect(authenticate()).rejects.toMatchObject({ cause: { code: 'ID_TOKEN_INVALID' } })
})
